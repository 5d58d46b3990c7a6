// What is told in one message: the body that goes to the webhook, as JSON of our own or as a chat takes it. Pure.
// However much goes wrong at once, it is one message of bounded length.
import { isAlertOver, type Claimed } from '../store/alerts/alert-rows.ts';
import type { NamedHead } from '../store/journal/heads.ts';
import { chatBodies, chatRoom, type AlertFormat } from './receivers.ts';

/** `open`: since now; `still`: a reminder; `news`: it happened, nothing will undo it; `over`: it was open. */
type Telling = 'open' | 'still' | 'news' | 'over';

/** Of one kind and project so many are told in full. */
const namedAtMost = 3;
/** Receivers refuse long bodies. */
const listedAtMost = 50;
const linesAtMost = 40;

function tellingOf(alert: Claimed): Telling {
  if (alert.resolvedAt === null) return alert.toldAt === null ? 'open' : 'still';
  return isAlertOver(alert) ? 'over' : 'news';
}

const words: Record<Telling, string> = {
  open: 'new',
  still: 'still open',
  news: 'news',
  over: 'over',
};
const inOrder: readonly Telling[] = ['open', 'news', 'still', 'over'];

/** The request's body, JSON text. */
export function bodyOf(
  alerts: Claimed[],
  format: AlertFormat,
  heads: readonly NamedHead[] = [],
): string {
  if (format !== 'json') {
    const ends = heads
      .slice(0, headsInChat)
      .map((head) => `\n${headLine(head)}`)
      .join('');
    const text = messageText(alerts, chatRoom - Buffer.byteLength(ends)) + ends;
    return JSON.stringify(chatBodies[format](text));
  }
  const text = [messageText(alerts), ...heads.slice(0, headsAtMost).map(headLine)].join('\n');
  const listed = sorted(alerts).slice(0, listedAtMost);
  return JSON.stringify({
    source: 'outlast',
    text,
    alerts: listed.map((alert) => ({
      project: alert.projectId,
      kind: alert.kind,
      subject: alert.subject,
      state: tellingOf(alert),
      text: alert.text,
      since: new Date(alert.openedAt).toISOString(),
    })),
    left_out: alerts.length - listed.length,
    heads,
  });
}

const headsAtMost = 20;
/** Half of the room. */
const headsInChat = 7;
const headLine = ({ project, no, head }: NamedHead): string =>
  `Journal of ${project}: head ${no} is ${head}`;

/** A message that says nothing is wrong, to try the way. */
export function testBody(format: AlertFormat): string {
  const text = 'Outlast: a test message. Alerts will arrive here.';
  return JSON.stringify(
    format === 'json'
      ? { source: 'outlast', text, alerts: [], left_out: 0, heads: [] }
      : chatBodies[format](text),
  );
}

/**
 * For people: a heading, then a line for each alert; many of one kind are counted and the first few named. `room`: bytes
 * it may take.
 */
export function messageText(alerts: Claimed[], room = Infinity): string {
  const counts = inOrder
    .map((telling) => ({ telling, n: alerts.filter((one) => tellingOf(one) === telling).length }))
    .filter(({ n }) => n > 0)
    .map(({ telling, n }) => `${n} ${words[telling]}`);
  const groups = new Map<string, Claimed[]>();
  for (const alert of sorted(alerts)) {
    const key = `${inOrder.indexOf(tellingOf(alert))} ${alert.projectId} ${alert.kind}`;
    groups.set(key, [...(groups.get(key) ?? []), alert]);
  }
  const lines = [...groups.values()].flatMap((group) => {
    const told = group.length <= namedAtMost + 1 ? group : group.slice(0, namedAtMost);
    const more = group.length - told.length;
    return [...told.map(lineOf), ...(more > 0 ? [`… and ${more} more of the same kind`] : [])];
  });
  const heading = `Outlast: ${counts.join(', ')}`;
  const shown = lines.slice(0, linesAtMost);
  const text = (): string =>
    [
      heading,
      ...shown,
      ...(shown.length < lines.length ? ['… `outlast query alerts` lists all'] : []),
    ].join('\n');
  while (shown.length > 0 && Buffer.byteLength(text()) > room) shown.pop();
  return text();
}

function lineOf(alert: Claimed): string {
  const telling = tellingOf(alert);
  const mark = telling === 'over' ? 'Over: ' : telling === 'still' ? 'Still: ' : '';
  return `• ${alert.projectId}: ${mark}${alert.text}`;
}

const sorted = (alerts: Claimed[]): Claimed[] =>
  alerts.toSorted((a, b) => inOrder.indexOf(tellingOf(a)) - inOrder.indexOf(tellingOf(b)));

// What those who receive alerts want to be sent, and which of their answers are a no. A robot of a chat answers 200
// whatever becomes of a message: the verdict stands in the answer's text. Pure but for the signature's hash.
import { createHmac } from 'node:crypto';
import type { AlertSettings } from '../settings/settings.ts';

export type AlertFormat = AlertSettings['format'];
type ChatFormat = Exclude<AlertFormat, 'json'>;

/** Bytes of text: WeCom refuses more than 2,048, Discord more than 2,000 characters. */
export const chatRoom = 2_000;

export const chatBodies: Record<ChatFormat, (text: string) => object> = {
  slack: (text) => ({ text: escaped(text) }),
  dingtalk: (text) => ({ msgtype: 'text', text: { content: text } }),
  wecom: (text) => ({ msgtype: 'text', text: { content: text } }),
  feishu: (text) => ({ msg_type: 'text', content: { text } }),
};

/** As Slack demands it; nothing in a name may then address anybody. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

type Signing = { format: AlertFormat; secret: string | null; now: number };

/**
 * The address and the body as the robot wants them signed. `now`: by this machine's clock, which may be an hour wrong at
 * most.
 */
export function signed(
  { href }: URL,
  body: string,
  { format, secret, now }: Signing,
): { url: URL; body: string } {
  const url = new URL(href);
  if (secret === null) return { url, body };
  const timestamp = String(format === 'dingtalk' ? now : Math.floor(now / 1000));
  const text = `${timestamp}\n${secret}`;
  if (format === 'dingtalk') {
    url.searchParams.set('timestamp', timestamp);
    url.searchParams.set('sign', createHmac('sha256', secret).update(text).digest('base64'));
    return { url, body };
  }
  // Feishu's text to sign is the key, and signs nothing.
  const sign = createHmac('sha256', text).digest('base64');
  return { url, body: JSON.stringify({ timestamp, sign, ...(JSON.parse(body) as object) }) };
}

/** Where a robot puts its verdict: a number, 0 for yes. Feishu says it once or twice. */
const verdictsOf: Partial<Record<AlertFormat, string[]>> = {
  dingtalk: ['errcode'],
  wecom: ['errcode'],
  feishu: ['code', 'StatusCode'],
};

/**
 * Why an answer is a no, in the receiver's own words; null: it is a yes. A robot has to say yes. Of anybody else a 2xx
 * is a yes unless its text is one of the known ways to say no: a `code` alone is not, for each service has its own.
 */
export function refusalIn(status: number, text: string, format: AlertFormat): string | null {
  const answer = objectIn(text);
  const said = wordsIn(answer, text);
  const quoted = said === '' ? '' : `, ${JSON.stringify(said)}`;
  if (status < 200 || status >= 300) {
    const isElsewhere = status >= 300 && status < 400;
    return `status ${status}${isElsewhere ? ', and redirects are not followed' : quoted}`;
  }
  const fields = verdictsOf[format];
  const no = fields === undefined ? knownRefusal(answer, text) : robotRefusal(answer, fields);
  if (no === null) return null;
  return `status ${status}${no === '' ? '' : ` with ${no}`}${quoted}${advice(no, said, format)}`;
}

type Answer = Record<string, unknown>;

function objectIn(text: string): Answer {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Answer) : {};
  } catch {
    return {};
  }
}

function robotRefusal(answer: Answer, fields: string[]): string | null {
  const given = fields.filter((name) => typeof answer[name] === 'number');
  if (given.length === 0) return 'an answer that is not the robot’s';
  const no = given.find((name) => answer[name] !== 0);
  return no === undefined ? null : `${no} ${String(answer[no])}`;
}

/** How the robots say no: a number and words. Feishu by its webhooks' own codes, for elsewhere any may be a yes. */
const robotShapes: [string, string, (value: number) => boolean][] = [
  ['errcode', 'errmsg', (value) => value !== 0],
  ['StatusCode', 'StatusMessage', (value) => value !== 0],
  ['code', 'msg', (value) => value === 9499 || (value >= 19_000 && value < 20_000)],
];

function knownRefusal(answer: Answer, text: string): string | null {
  for (const [name, words, isNo] of robotShapes) {
    const value = answer[name];
    if (typeof value !== 'number' || typeof answer[words] !== 'string') continue;
    if (isNo(value)) return `${name} ${value}`;
  }
  // Telegram, Rocket.Chat and many others.
  const flag = ['ok', 'success'].find((name) => answer[name] === false);
  if (flag !== undefined) return `${flag} false`;
  // Microsoft Teams, and Healthchecks of a check that is no more.
  return /^Webhook message delivery failed|^OK \((not found|rate limited)\)/.test(text) ? '' : null;
}

/** What a person can read of an answer: its message, or its text where that is a line and no page. */
function wordsIn(answer: Answer, text: string): string {
  const names = ['errmsg', 'msg', 'StatusMessage', 'message', 'error', 'description'];
  const named = names.map((name) => answer[name]).find((value) => typeof value === 'string');
  const line = text.trim();
  const words = named ?? (/^[^<{[\n]{1,200}$/.test(line) ? line : '');
  return words.slice(0, 200);
}

function advice(no: string, said: string, format: AlertFormat): string {
  if (verdictsOf[format] === undefined) {
    return /^(errcode|StatusCode|code) /.test(no)
      ? `: OUTLAST_ALERT_FORMAT is ${format}, and a robot of DingTalk, WeCom or Feishu needs its own`
      : '';
  }
  if (/key ?words?|关键词/i.test(said)) return ': let the robot’s keyword be Outlast';
  return format !== 'wecom' && /\b(sign|signature|timestamp)\b|签名/i.test(said)
    ? ': set OUTLAST_ALERT_SECRET to the secret that the robot signs with, and this machine’s clock right'
    : '';
}

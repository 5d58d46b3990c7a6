// What `outlast verify` prints: findings as they come, for programs all of them, for a person the first hundred; then
// what was looked at and what it comes to.
import { isListed, type Day, type Resource } from '../model.ts';
import { inSnakeCase } from '../query/record-text.ts';
import type { DayAskedAgain, ResultAskedAgain } from '../sync/ask-proved-days-again.ts';
import type { ChainsVerified } from '../verify/check-journal.ts';
import { fileName } from '../verify/certificate-copies.ts';
import type { Finding } from '../verify/finding.ts';
import type { ListVerified } from '../verify/verify.ts';
import {
  counted,
  formatCount,
  momentText,
  nothingArchived,
  print,
  printable,
  screenWidth,
  table,
  wrapped,
} from './print.ts';

/** What the platform says now of proved slices, and of results by what came of them. */
export type PlatformComparison = {
  slices: DayAskedAgain[];
  results: Record<ResultAskedAgain['outcome'], number>;
  isComplete: boolean;
  failure: Error | null;
};

export const nothingAsked = (): PlatformComparison => ({
  slices: [],
  results: { agrees: 0, differs: 0, unclear: 0 },
  isComplete: true,
  failure: null,
});

export type VerifyPrinter = {
  finding(finding: Finding): Promise<void> | void;
  end(lists: ListVerified[], journals: ChainsVerified[], asked: PlatformComparison): Promise<void>;
};

/** One JSON object, written as it grows: there may be as many findings as records. */
export function asJson(): VerifyPrinter {
  let mark = '{"findings": [';
  return {
    async finding(finding) {
      await say(`${mark}\n  ${JSON.stringify(finding)}`);
      mark = ',';
    },
    async end(lists, journals, asked) {
      const { slices, results } = asked;
      const platform = slices.map((one) => inSnakeCase(one));
      const rest = JSON.stringify({ lists, journals, platform, results }, null, 2);
      await say(`${mark === ',' ? '\n],' : `${mark}],`}${rest.slice(1)}\n`);
    },
  };
}

const shownAtMost = 100;

export function textPrinter(): VerifyPrinter {
  const findings: Finding[] = [];
  let count = 0;
  return {
    finding(finding) {
      count += 1;
      if (count <= shownAtMost) findings.push(finding);
    },
    end: async (lists, journals, asked) =>
      print(verifyText(lists, journals, asked, findings, count)),
  };
}

/** Waits for a slow reader, and for none that left: the judging goes on. */
const say = (text: string): Promise<void> =>
  new Promise((resolve) => {
    if (process.stdout.write(text, () => resolve())) resolve();
  });

/** The whole text as a person reads it; the verdict is its last line. */
function verifyText(
  lists: ListVerified[],
  journals: ChainsVerified[],
  { slices, results }: PlatformComparison,
  findings: Finding[],
  count: number,
): string {
  if (lists.length === 0) return nothingArchived;
  const parts = [listTable(lists)];
  if (lists.some(({ certificates }) => certificates.length > 0)) {
    parts.push(certificateTable(lists), ...keepLines(lists));
  }
  parts.push(...headLines(journals));
  const missing = lists.flatMap(({ certificates }) =>
    certificates.flatMap((one) => one.files_missing),
  );
  if (missing.length > 0) parts.push(missingText(missing));
  if (slices.length > 0) {
    const count = (outcome: DayAskedAgain['outcome']): number =>
      slices.filter((slice) => slice.outcome === outcome).length;
    const days = { agrees: count('agrees'), differs: count('differs'), unclear: count('unclear') };
    parts.push(platformText('proved days', days));
  }
  if (Object.values(results).some((count) => count > 0)) {
    parts.push(platformText('final results', results));
  }
  if (count > 0) {
    // Under its kind each finding stands by itself.
    const lines = findings.map((one) => wrapped(findingLine(one), screenWidth(), ' '.repeat(12)));
    if (count > lines.length) {
      lines.push(`and ${formatCount(count - lines.length)} more: --json names them all`);
    }
    parts.push(lines.join('\n'));
  }
  parts.push(verdict(lists, count));
  return parts.join('\n\n');
}

const listTable = (lists: ListVerified[]): string =>
  table(
    ['project', 'resource', 'records', 'versions', 'rejects', 'files', 'certificates', 'findings'],
    lists.map((list) => [
      list.project_id,
      list.resource,
      list.records,
      list.versions,
      list.rejects,
      list.files,
      list.certificates.length,
      list.findings,
    ]),
  );

const certificateTable = (lists: ListVerified[]): string =>
  table(
    [
      'month',
      'project',
      'resource',
      'records',
      { header: 'came later', spare: 1 },
      'certified (UTC)',
      { header: '', wrapsTo: 10 },
    ],
    lists.flatMap((list) =>
      list.certificates.map((one) => [
        one.month,
        list.project_id,
        list.resource,
        one.records,
        one.later,
        momentText(one.certified_at),
        [
          one.holds ? 'holds' : 'DOES NOT HOLD',
          ...notHeld([one]).map(([days, what]) => `${days} of ${counted(one.days, 'day')} ${what}`),
        ].join(', '),
      ]),
    ),
  );

/** What certificates themselves say is not all there: so many days, and what became of them. */
function notHeld(certificates: ListVerified['certificates']): [number, string][] {
  const sum = (of: (one: ListVerified['certificates'][number]) => Day[]): number =>
    certificates.reduce((all, one) => all + of(one).length, 0);
  const lost = sum((one) => one.lost_days);
  const all: [number, string][] = [
    [lost, 'lost'],
    [sum((one) => one.days_not_held) - lost, 'never proved whole'],
  ];
  return all.filter(([days]) => days > 0);
}

/** Each list's newest certificate names the ones before it: its digest is all that has to be kept elsewhere. */
const keepLines = (lists: ListVerified[]): string[] =>
  lists.flatMap(({ project_id: project, resource, certificates }) => {
    const newest = certificates.at(-1);
    if (newest === undefined || !isListed(resource)) return [];
    const name = `${project}/${fileName({ resource, ...newest, month: `${newest.month}-01` }, 'certificate.json')}`;
    return [`${name} has SHA-256\n  ${newest.certificate_sha256}`];
  });

/** The newest head covers the whole journal: another digest to keep elsewhere. */
const headLines = (journals: ChainsVerified[]): string[] =>
  journals.flatMap(({ project_id: project, head, passed }) => [
    ...(head === null
      ? []
      : [
          `the journal of ${project} has head ${head.no}, of ${momentText(head.at)} (UTC)\n  ${head.head}`,
        ]),
    ...(passed.length === 0
      ? []
      : [`It passes through ${formatCount(passed.length)} of the heads that were kept elsewhere.`]),
  ]);

const missingText = (files: string[]): string =>
  `Missing beside the archive, made by the next sync: ${counted(files.length, 'file')} (${files[0]}${files.length > 1 ? ', …' : ''}).`;

const platformText = (
  what: string,
  { agrees, differs, unclear }: PlatformComparison['results'],
): string =>
  `Of ${formatCount(agrees + differs + unclear)} ${what} the platform confirms ${formatCount(agrees)} now, contradicts ${formatCount(differs)}, and says nothing certain of ${formatCount(unclear)}.`;

const findingLine = ({ kind, project_id: project, resource, when, id, says }: Finding): string =>
  printable(
    [kind.padEnd(11), project, resource, when, id]
      .filter((part) => part !== null)
      .join(' ')
      .concat(`: ${says}`),
  );

function verdict(lists: ListVerified[], count: number): string {
  const held = heldText(lists);
  const lacking = lackingText(lists);
  if (count === 0) {
    return lacking === ''
      ? `${held}: every one follows from what the platform said.`
      : `${held}: nothing held was altered.${lacking}`;
  }
  const things = count === 1 ? 'One thing does' : `${formatCount(count)} things do`;
  return `${held} were looked at. ${things} not follow from what the platform said, named above.${lacking}`;
}

/** Unaltered is not complete: whoever reads only the last line must not take one for the other. */
function lackingText(lists: ListVerified[]): string {
  const told = lists.flatMap(({ project_id: project, resource, certificates }) => {
    // Of a month that was certified again the newest counts.
    const newest = new Map(
      certificates.toSorted((a, b) => a.issue - b.issue).map((one) => [one.month, one]),
    );
    const days = notHeld([...newest.values()]).map(([n, what]) => `${counted(n, 'day')} ${what}`);
    return days.length === 0 ? [] : [`${nouns[resource]} of ${project}, ${days.join(', ')}`];
  });
  return told.length === 0
    ? ''
    : ` Not complete, or not proved to be: ${told.join('; ')} (--json names them).`;
}

const nouns: Record<Resource, string> = {
  orders: 'orders',
  nft_classes: 'NFT classes',
  transactions: 'transaction results',
  tokens: 'tokens',
};

/** `12 orders, 3 NFT classes and 4 tokens`: what was looked at; what no list shows only where there is any. */
function heldText(lists: ListVerified[]): string {
  const sums = new Map<Resource, number>();
  for (const { resource, records } of lists) {
    sums.set(resource, (sums.get(resource) ?? 0) + records);
  }
  const told = [...sums].filter(([resource, sum]) => isListed(resource) || sum > 0);
  const parts = (told.length > 0 ? told : [...sums]).map(
    ([resource, sum]) => `${formatCount(sum)} ${nouns[resource]}`,
  );
  const last = parts.pop() ?? '';
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
}

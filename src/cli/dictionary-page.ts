// The data dictionary as a page, docs/dictionary.md. The same schema gives the same text: a test tells when the page is stale.
import type { Described, DictionaryEntry } from '../query/dictionary.ts';

const head = `<!-- Generated: outlast dictionary --markdown > docs/dictionary.md -->

# Data dictionary

What the role \`outlast_reader\` may read. Times are points in time on the platform's clock, days and months are those of UTC. Money
in \`…_fen\` is in fen, 1/100 of the currency unit; in \`…_units\` in whole currency units, exactly.
[The cookbook](cookbook.md) shows what to ask.
`;

const titles = { view: 'Views', function: 'Functions', table: 'Tables' } as const;

export function dictionaryPage(entries: DictionaryEntry[]): string {
  const parts = (['view', 'function', 'table'] as const).map((kind) => {
    const ofKind = entries.filter((entry) => entry.kind === kind);
    return ofKind.length === 0 ? '' : `\n## ${titles[kind]}\n${ofKind.map(section).join('')}`;
  });
  return head + parts.join('');
}

const section = ({ name, meaning, columns }: DictionaryEntry): string =>
  `\n### \`${name}\`\n\n${meaning}.\n${columns.length > 0 ? `\n${table(columns)}\n` : ''}`;

function table(columns: Described[]): string {
  const hasMeaning = columns.some(({ meaning }) => meaning !== '');
  const row = (cells: string[]): string =>
    `| ${(hasMeaning ? cells : cells.slice(0, 2)).map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [
    row(['column', 'type', 'meaning']),
    row(['---', '---', '---']),
    ...columns.map(({ name, type, meaning }) => row([`\`${name}\``, type, meaning])),
  ].join('\n');
}

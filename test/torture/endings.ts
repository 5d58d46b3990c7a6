// How a process under torture may end: done, interrupted, or with a sentence that says what happened and the exit code
// that says what to do about it. Everything else is a finding. Pure.

export type Ended = {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The end of what it wrote to both streams. */
  said: string;
};

export type Judged = {
  /** For counting: the exit code, and what kind of sentence came with it. */
  name: string;
  finding: string | null;
};

/** What may go wrong for good (exit code 1) or by our own doing (2), told by the sentence. */
const excused: Readonly<Record<number, readonly RegExp[]>> = {
  1: [
    // A 403 that came although everything was right parks the project.
    /authentication failed|refused the key|"outcome": "parked"/,
    // A 400 to what is asked before all else: such a platform is not the one that we can read.
    /the platform refused \S+: 400 BAD/,
    /The disk of the database is full|There is no room for the embedded Postgres/,
  ],
  2: [
    // The month ended between our looking at the clock and theirs.
    /lies before the window|has not come yet/,
  ],
};

/** What no process may say, however it ends. */
const forbidden = [
  /something unexpected happened.*/,
  /unhandled|uncaught/i,
  /^\s+at .+\(?(?:file:|node:).*/m,
  /Cannot read propert.*/,
];

/** `mayEndWith`: a code that is expected of this one. */
export function judgeEnding(
  args: readonly string[],
  { code, signal, said }: Ended,
  secrets: readonly string[],
  mayEndWith = 0,
): Judged {
  const name = signal ?? `exit ${String(code)}`;
  // P10
  if (secrets.some((secret) => said.includes(secret))) {
    return { name, finding: 'it wrote a secret' };
  }
  const bad = forbidden
    .map((pattern) => pattern.exec(said)?.[0])
    .find((text) => text !== undefined);
  if (bad !== undefined) return { name, finding: `it said: ${bad.trim()}` };
  if (signal !== null) {
    // SIGTERM ends a process that has not come as far as listening for it.
    const isOurs = signal === 'SIGKILL' || signal === 'SIGTERM';
    return { name, finding: isOurs ? null : `it was ended by ${signal}` };
  }
  // 143: told to leave a second time, it left at once.
  if (code === 0 || code === 75 || code === 143 || code === mayEndWith) {
    return { name, finding: null };
  }
  const isExcused = (excused[code ?? -1] ?? []).some((pattern) => pattern.test(said));
  const finding = isExcused ? null : `it ended with ${String(code)}: ${lastLine(said)}`;
  return { name: `${name} (${args[0] ?? ''})`, finding };
}

export const lastLine = (said: string): string => said.trimEnd().split('\n').slice(-3).join(' | ');

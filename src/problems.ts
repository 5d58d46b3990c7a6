// What may be wrong with an archive, in words: the one home of each kind's sentence and of what to do about it, in both
// languages of the pages. Whether something is wrong is decided by the view analytics.problems. Pure. No record's
// contents, no address, nothing the platform said: what is told leaves the house (P10).
import { wholeList, type ClockDisagreement, type Day } from './model.ts';

/** The worst first. What only happened, such as a lost day, is `info` once it has been known for a day. */
export const problemLevels = ['critical', 'warning', 'info'] as const;
export type ProblemLevel = (typeof problemLevels)[number];

/** What a problem is told with. Which of them there are depends on its kind; times are as Postgres writes them. */
export type ProblemNumbers = {
  /** 0001-01-01 for an owner's whole list. */
  month?: Day | null;
  /** So many days, and the first three of them. */
  days?: number | null;
  first?: Day[];
  /** Records or operations. */
  count?: number;
  resource?: string;
  deadline?: string | null;
  isPast?: boolean | null;
  cliff?: string | null;
  since?: string | null;
  fact?: string;
  from?: string;
  to?: string;
  /** Of a forecast: days that cannot be read in time, requests to be made, what is allowed and what would do. */
  tooLate?: number;
  requests?: number;
  perSecond?: number;
  perSecondNeeded?: number | null;
  clock?: ClockDisagreement['of'];
  byMs?: number;
  trouble?: 'failed' | 'late' | 'missed' | 'overdue' | 'never' | null;
  dueAt?: string;
  runs?: number;
  /** What this machine says of its own files. */
  text?: string;
};

type ToldProblem = { kind: string; subject: string; numbers: ProblemNumbers };
type ProblemLang = 'en' | 'zh';

type Words = Record<ProblemLang, (subject: string, of: ProblemNumbers) => string>;
type OfKind = Words & { todo: Record<ProblemLang, string> };

/** The sentence. A later release may have left a problem of a kind that this one does not know. */
export const problemText = (
  { kind, subject, numbers }: ToldProblem,
  lang: ProblemLang = 'en',
): string => wordsOf(kind)?.[lang](subject, numbers) ?? `${kind} ${subject}`.trim();

/** As it stands in a row of the list of problems. */
export const problemRowText = (
  { kind, subject, numbersJson }: { kind: string; subject: string; numbersJson: string },
  lang: ProblemLang = 'en',
): string =>
  problemText({ kind, subject, numbers: JSON.parse(numbersJson) as ProblemNumbers }, lang);

export const problemAdvice = (kind: string, lang: ProblemLang): string | null =>
  wordsOf(kind)?.todo[lang] ?? null;

const wordsOf = (kind: string): OfKind | undefined =>
  Object.hasOwn(words, kind) ? words[kind as ProblemKind] : undefined;

/** `1 day`, `1,200 days`. */
const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;

/** `3 days (2026-03-01, 2026-03-02, 2026-03-03)`, `12 days (2026-03-01, 2026-03-02, 2026-03-03 and more)`. */
const daysOf = ({ days, first = [] }: ProblemNumbers): string => {
  const more = (days ?? 0) > first.length ? ' and more' : '';
  return `${counted(days ?? 0, 'day')}${first.length === 0 ? '' : ` (${first.join(', ')}${more})`}`;
};
const daysZh = ({ days, first = [] }: ProblemNumbers): string => {
  const more = (days ?? 0) > first.length ? ' 等' : '';
  return `${days ?? 0} 天${first.length === 0 ? '' : `（${first.join('、')}${more}）`}`;
};

const isOne = ({ days, count }: ProblemNumbers): boolean => (days ?? count) === 1;
const are = (of: ProblemNumbers): string => (isOne(of) ? 'is' : 'are');
const were = (of: ProblemNumbers): string => (isOne(of) ? 'was' : 'were');

/** `2026-04-30 00:00 UTC`. */
export const moment = (at: string | number | null | undefined): string =>
  at === null || at === undefined
    ? '?'
    : `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** What OUTLAST_MAX_RPS takes. */
const mostPerSecond = 100_000;

/** Never less than it was; in whole requests a second where there is at least one. */
const roundedUp = (perSecond: number): string =>
  (perSecond >= 1 ? Math.ceil(perSecond) : Math.ceil(perSecond * 100) / 100).toLocaleString(
    'en-US',
  );

/** `7 minutes`, `3 hours`, `366 days`; in Chinese likewise. */
function lasting(ms: number, lang: ProblemLang): string {
  const minutes = Math.round(Math.abs(ms) / 60_000);
  const hours = Math.round(minutes / 60);
  const [count, noun, nounZh] =
    minutes < 120
      ? ([minutes, 'minute', '分钟'] as const)
      : hours < 48
        ? ([hours, 'hour', '小时'] as const)
        : ([Math.round(hours / 24), 'day', '天'] as const);
  return lang === 'en' ? counted(count, noun) : `${count} ${nounZh}`;
}

/** What is forgotten first while nothing is read. */
const endangered = ({ days, month, cliff }: ProblemNumbers): string =>
  days === null || days === undefined || month === null || month === undefined
    ? ''
    : ` ${counted(days, 'day')} of them ${days === 1 ? 'is' : 'are'} without proof, and the platform forgets ${month.slice(0, 7)} at ${moment(cliff)}.`;
const endangeredZh = ({ days, month, cliff }: ProblemNumbers): string =>
  days === null || days === undefined || month === null || month === undefined
    ? ''
    : `其中 ${days} 天尚未证实，平台将于 ${moment(cliff)} 不再提供 ${month.slice(0, 7)}。`;

const words = {
  deadline_at_risk: {
    en: (subject, of) => {
      const { requests, tooLate = 0, perSecondNeeded = null, deadline } = of;
      if (requests === undefined) {
        return `${subject}: ${daysOf(of)} ${are(of)} still without proof, to be done by ${moment(deadline)}.`;
      }
      const what =
        tooLate > 0
          ? `${counted(tooLate, 'day')} cannot be read`
          : 'not all days can be walked once more and proved';
      const rate =
        perSecondNeeded === null
          ? ''
          : perSecondNeeded > mostPerSecond
            ? ' No rate would do any more.'
            : ` ${roundedUp(perSecondNeeded)} or more would do.`;
      return `${subject}: ${what} by ${moment(deadline)}: ${counted(requests, 'request')} are too many at ${of.perSecond} a second (OUTLAST_MAX_RPS).${rate}`;
    },
    zh: (subject, of) => {
      const { requests, tooLate = 0, perSecondNeeded = null, deadline } = of;
      if (requests === undefined) {
        return `${subject}：${daysZh(of)}仍未证实，须在 ${moment(deadline)} 之前完成。`;
      }
      const what = tooLate > 0 ? `${tooLate} 天无法读完` : '有些天无法再读一次并证实';
      const rate =
        perSecondNeeded === null
          ? ''
          : perSecondNeeded > mostPerSecond
            ? '任何速率都已来不及。'
            : `每秒 ${roundedUp(perSecondNeeded)} 次或更多即可。`;
      return `${subject}：到 ${moment(deadline)} 为止${what}：每秒 ${of.perSecond} 次（OUTLAST_MAX_RPS）不够 ${requests} 次请求。${rate}`;
    },
    todo: {
      en: 'Raise OUTLAST_MAX_RPS if the platform allows it, and keep the service running until the days are proved.',
      zh: '如果平台允许，请调高 OUTLAST_MAX_RPS，并让服务一直运行到这些天被证实。',
    },
  },
  deadline_missed: {
    en: (subject, of) =>
      `${subject}: the deadline of ${moment(of.deadline)} has passed and ${daysOf(of)} ${are(of)} without proof. The platform forgets this month at ${moment(of.cliff)}.`,
    zh: (subject, of) =>
      `${subject}：期限 ${moment(of.deadline)} 已过，${daysZh(of)}尚未证实。平台将于 ${moment(of.cliff)} 不再提供该月。`,
    todo: {
      en: 'Keep it running: it goes on trying as long as the platform shows the month. Raise OUTLAST_MAX_RPS if it may.',
      zh: '让服务继续运行：只要平台还显示该月，就会继续尝试。允许时请调高 OUTLAST_MAX_RPS。',
    },
  },
  // P7: told to whoever listens, and said in every view of coverage for ever.
  day_lost: {
    en: (subject, of) =>
      `${subject}: ${daysOf(of)} ${are(of)} lost: the month left the window before ${isOne(of) ? 'it was' : 'they were'} read.`,
    zh: (subject, of) => `${subject}：${daysZh(of)}已丢失：读完之前，该月已离开查询窗口。`,
    todo: {
      en: 'Nothing brings it back, unless the platform’s operator can give the records another way. It stays marked.',
      zh: '无法找回，除非平台运营方能以其他方式提供这些记录。它会一直带有标记。',
    },
  },
  day_unproved: {
    en: (subject, of) =>
      `${subject}: ${daysOf(of)} ${were(of)} read before the month left the window, and never proved.`,
    zh: (subject, of) => `${subject}：${daysZh(of)}在该月离开查询窗口之前读过，但从未证实。`,
    todo: {
      en: 'What was read is held. Compare its count with the platform’s own books.',
      zh: '读到的内容已保存。请与平台自己的账目核对数量。',
    },
  },
  // Nothing is sealed or decided meanwhile, and only a person can set a clock right.
  clock_disagrees: {
    en: (machine, { clock, byMs = 0 }) => {
      const by = lasting(byMs, 'en');
      const waits = 'nothing is sealed, final or lost before every clock says so';
      return clock === 'machine'
        ? `The clock of ${machine} is ${by} ${byMs > 0 ? 'behind' : 'ahead of'} the platform's: ${waits}. Set the wrong one right (NTP).`
        : `The platform's answers contradict each other about the time, by ${by}: ${waits}.`;
    },
    zh: (machine, { clock, byMs = 0 }) => {
      const by = lasting(byMs, 'zh');
      const waits = '在所有时钟一致认可之前，没有任何一天会被封存、定稿或判为丢失';
      return clock === 'machine'
        ? `${machine} 的时钟比平台${byMs > 0 ? '慢' : '快'} ${by}：${waits}。请校准有误的一方（NTP）。`
        : `平台各次应答的时间互相矛盾，相差 ${by}：${waits}。`;
    },
    todo: {
      en: 'If it is the named machine’s clock that is wrong, set it right (NTP); if the platform’s, tell its operator.',
      zh: '如果是所列机器的时钟有误，请校准（NTP）；如果是平台的，请告知平台运营方。',
    },
  },
  operation_at_risk: {
    en: (subject, of) => {
      const open = `${counted(of.count ?? 0, 'operation')} ${isOne(of) ? 'has' : 'have'} no final result`;
      return of.isPast === true
        ? `${subject}: the deadline of ${moment(of.deadline)} has passed and ${open}.`
        : `${subject}: ${open} yet, and should by ${moment(of.deadline)}.`;
    },
    zh: (subject, { count, isPast, deadline }) =>
      isPast === true
        ? `${subject}：期限 ${moment(deadline)} 已过，${count} 个操作没有最终结果。`
        : `${subject}：${count} 个操作还没有最终结果，应在 ${moment(deadline)} 之前得到。`,
    todo: {
      en: 'See whether the ids are right; ask the platform’s operator about the others.',
      zh: '请检查这些 ID 是否正确；其余的请询问平台运营方。',
    },
  },
  // P7: told by number, and named for ever.
  operation_lost: {
    en: (subject, of) =>
      `${subject}: ${counted(of.count ?? 0, 'operation')} ${are(of)} lost: the month left the platform's window before a final result was found. \`outlast status\` names ${isOne(of) ? 'it' : 'them'}.`,
    zh: (subject, { count }) =>
      `${subject}：${count} 个操作已丢失：得到最终结果之前，该月已离开平台的查询窗口。\`outlast status\` 会列出它们。`,
    todo: {
      en: 'Ask the platform’s operator for the results: the lookup no longer has them.',
      zh: '请向平台运营方索取结果：查询接口已不再提供。',
    },
  },
  proof_fails: {
    en: (subject, of) =>
      `${subject}: ${daysOf(of)} ${were(of)} tried 5 times or more and not done. \`outlast status\` gives the reason.`,
    zh: (subject, of) =>
      `${subject}：${daysZh(of)}已尝试 5 次或更多，仍未完成。\`outlast status\` 说明原因。`,
    todo: {
      en: 'Open the day to see why. If its totals and records disagree, ask the platform’s operator.',
      zh: '打开这一天查看原因。如果总数与记录不一致，请询问平台运营方。',
    },
  },
  books_differ: {
    en: (subject, { since }) =>
      `${subject}: the platform has counted more than it shows since ${moment(since)}. These days are read again, and have no proof until both agree.`,
    zh: (subject, { since }) =>
      `${subject}：自 ${moment(since)} 起，平台的计数一直多于它所显示的。这些天会重新读取，在两者一致之前没有证实。`,
    todo: {
      en: 'See in the books which days these are, and ask the platform’s operator.',
      zh: '请在核对记录中查看是哪些天，并询问平台运营方。',
    },
  },
  records_missing: {
    en: (subject, { count = 0 }) =>
      `${subject}: the platform no longer shows ${counted(count, 'record')} that it showed before. What is archived stays.`,
    zh: (subject, { count }) =>
      `${subject}：平台不再显示以前显示过的 ${count} 条记录。已存档的内容会保留。`,
    todo: {
      en: 'Look at the records on the platform: what is archived stays.',
      zh: '请在平台上查看这些记录：已存档的内容会保留。',
    },
  },
  rejects: {
    en: (subject, of) =>
      `${subject}: ${counted(of.count ?? 0, 'record')} without a usable id, too long or no UTF-8, kept as ${isOne(of) ? 'a reject' : 'rejects'} with the reason.`,
    zh: (subject, { count }) =>
      `${subject}：${count} 条记录没有可用的 ID、过长或不是 UTF-8，已连同原因另行保存。`,
    todo: {
      en: 'Look at them under /archive/v1/rejects; ask the platform’s operator what they are.',
      zh: '在 /archive/v1/rejects 查看它们，并询问平台运营方。',
    },
  },
  fact_changed: {
    en: (_, { fact, from, to }) =>
      `The platform behaves differently than before: ${fact} was ${from} and is ${to} now.`,
    zh: (_, { fact, from, to }) => `平台的行为与以前不同：${fact} 原为 ${from}，现为 ${to}。`,
    todo: {
      en: 'See that it was meant to. What was proved under the old behaviour is read again.',
      zh: '请确认这是有意的变更。按旧行为证实的内容会重新读取。',
    },
  },
  // What was archived is as safe as before; its copies beyond the database are not made.
  files_unwritten: {
    en: (_, { text }) => `${text}.`,
    zh: () => '数据已在数据库中，但存证或日志链头的文件无法写入。',
    todo: {
      en: 'Make room in OUTLAST_CERTIFICATES_DIR and OUTLAST_HEADS_DIR, or give the right to write there.',
      zh: '请为 OUTLAST_CERTIFICATES_DIR 和 OUTLAST_HEADS_DIR 腾出空间，或授予写入权限。',
    },
  },
  export_failed: {
    en: (_, { trouble, dueAt }) =>
      trouble === 'missed'
        ? `The export due at ${moment(dueAt)} was not made then. It was made up when the service started.`
        : trouble === 'late'
          ? 'No export has ended for a day longer than its schedule says: one may hang.'
          : 'The archive was not exported as scheduled. The log says why.',
    zh: (_, { trouble, dueAt }) =>
      trouble === 'missed'
        ? `应于 ${moment(dueAt)} 进行的导出当时没有进行，服务启动后已补做。`
        : trouble === 'late'
          ? '比计划晚了一天以上仍没有任何导出完成：可能有一个卡住了。'
          : '没有按计划导出存档。日志说明原因。',
    todo: {
      en: 'Read the service’s log, or run outlast export with OUTLAST_EXPORT_TO by hand.',
      zh: '请查看服务日志，或手动对 OUTLAST_EXPORT_TO 运行 outlast export。',
    },
  },
  archive_altered: {
    en: (_, { text }) => `${text}.`,
    zh: () => '存档的内容与存证或日志链头不符：数据库被改动过，或恢复成了较旧的副本。',
    todo: {
      en: 'Run outlast verify, and keep a copy of the database before changing anything. After a restore move the files of heads away, and keep them.',
      zh: '请运行 outlast verify，并在改动任何内容之前保留数据库副本。如果是恢复了较旧的副本，请移走并保留链头文件。',
    },
  },
  parked: {
    en: (resource, of) =>
      resource === ''
        ? 'The platform refused the key. It is asked again hourly, at once under another key, or by `outlast sync`.'
        : `The platform refuses ${resource} to the key since ${moment(of.since)}. They are asked for again hourly, at once under another key, or by \`outlast sync\`.${endangered(of)}`,
    zh: (resource, of) =>
      resource === ''
        ? '平台拒绝了密钥。每小时会再次询问；换用其他密钥或运行 `outlast sync` 时立即询问。'
        : `自 ${moment(of.since)} 起平台拒绝用此密钥查询 ${resource}。每小时会再次询问；换用其他密钥或运行 \`outlast sync\` 时立即询问。${endangeredZh(of)}`,
    todo: {
      en: 'Put the right key and secret in place, then run outlast sync: it asks at once.',
      zh: '请换上正确的密钥，然后运行 outlast sync：会立即再次询问。',
    },
  },
  run_failed: {
    en: (resource, of) => {
      if (resource !== '') {
        return `Nothing of ${resource} has been read since ${moment(of.since)}. \`outlast status\` and the log say why.${endangered(of)}`;
      }
      if (of.trouble === 'overdue') {
        return 'No run has begun for three times as long as OUTLAST_SCHEDULE says. Look at the clock of this machine, and restart the service.';
      }
      return of.trouble === 'never'
        ? `The last ${of.runs} runs failed before anything was archived. The log says why.`
        : 'The last 3 runs failed. The log says why.';
    },
    zh: (resource, of) => {
      if (resource !== '') {
        return `自 ${moment(of.since)} 起没有读到任何 ${resource}。\`outlast status\` 和日志说明原因。${endangeredZh(of)}`;
      }
      if (of.trouble === 'overdue') {
        return '没有运行开始的时间已达 OUTLAST_SCHEDULE 间隔的三倍。请检查本机时钟，并重启服务。';
      }
      return of.trouble === 'never'
        ? `在存档任何内容之前，最近 ${of.runs} 次运行都失败了。日志说明原因。`
        : '最近 3 次运行都失败了。日志说明原因。';
    },
    todo: {
      en: 'Read the service’s log, or run outlast doctor.',
      zh: '请查看服务日志，或运行 outlast doctor。',
    },
  },
  work_left: {
    en: (_, { since }) =>
      `No run has done all that was due since ${moment(since)}. \`outlast status\` says what is left, \`outlast status --plan\` whether it can be done in time.`,
    zh: (_, { since }) =>
      `自 ${moment(since)} 起没有任何一次运行完成全部到期的工作。\`outlast status\` 说明还剩什么，\`outlast status --plan\` 说明是否来得及。`,
    todo: {
      en: 'See which days fail, and why. A first sync at a low rate may rightly take longer.',
      zh: '请查看哪些天失败以及原因。速率较低时，首次同步可能确实需要更久。',
    },
  },
} satisfies Record<string, OfKind>;

export type ProblemKind = keyof typeof words;
export const problemKinds = Object.keys(words) as ProblemKind[];

/** `orders 2026-03`, `nft_classes of iaa1x 2026-03`; an owner's whole list is no month of the calendar. */
export const monthSubject = (list: { resource: string; owner: string }, month: Day): string =>
  `${list.resource}${list.owner === '' ? '' : ` of ${list.owner}`} ${month === wholeList ? 'as a whole' : month.slice(0, 7)}`;

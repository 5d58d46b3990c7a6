// Every setting: a kind, a default and a sentence. The help of `outlast --help` and .env.example are made from this
// table. A new setting is an entry here and a line in settings.ts, which reads it. It reads nothing itself.
import { logLevels } from '../log.ts';
import { fileFormats } from '../model.ts';
import * as kind from './value-parsers.ts';
import type { ValueParser } from './value-parsers.ts';

export type Setting<T, Default extends string | null> = {
  kind: ValueParser<T>;
  /** What is taken when it is unset, as text; null, which need not be said: there is none. */
  default: Default;
  /** What it is, as the end of "it is …"; no full stop. */
  sentence: string;
  /** A secret may also come from the file that NAME_FILE names, and is never repeated (P10). */
  secret?: true;
  /** A value for .env.example where there is no default. */
  example?: string;
};

const setting = <T, Default extends string | null = null>(
  one: Omit<Setting<T, Default>, 'default'> & { default?: Default },
): Setting<T, Default> => ({ default: null as Default, ...one });

const platform = {
  OUTLAST_BASE_URL: setting({
    kind: kind.httpUrl,
    example: 'https://platform.example',
    sentence: 'address of the platform; a path in front of its own paths is fine',
  }),
  OUTLAST_API_KEY: setting({
    kind: kind.apiKey,
    secret: true,
    sentence: 'API key of the project',
  }),
  OUTLAST_API_SECRET: setting({
    kind: kind.apiSecret,
    secret: true,
    sentence: 'API secret of the project',
  }),
  OUTLAST_PROJECT: setting({
    kind: kind.projectName,
    default: 'default',
    sentence: 'name of the project in the archive: a-z, 0-9, _ and -, 40 at most',
  }),
  OUTLAST_CLASS_OWNERS: setting({
    kind: kind.names,
    example: 'iaa1first,iaa1second',
    sentence: "only these owners' NFT classes, separated by commas; unset: all",
  }),
  OUTLAST_TOKENS_URL: setting({
    kind: kind.httpUrl,
    example: 'https://node.example',
    sentence: 'address of the node interface for tokens; unset: the base URL',
  }),
  OUTLAST_PROJECTS_FILE: setting({
    kind: kind.anyText,
    example: './projects.json',
    sentence: 'several projects: a JSON file instead of those above, see docs/settings.md',
  }),
};

const archive = {
  DATABASE_URL: setting({
    kind: kind.databaseUrl,
    secret: true,
    sentence: 'PostgreSQL 15 or newer; unset: the embedded one',
  }),
  OUTLAST_READ_DATABASE_URL: setting({
    kind: kind.databaseUrl,
    secret: true,
    sentence:
      'a read replica of DATABASE_URL, for commands that only read and for HTTP; unset: DATABASE_URL itself',
  }),
  DATABASE_PASSWORD: setting({
    kind: kind.anyText,
    secret: true,
    sentence: 'password for a DATABASE_URL that has none, without percent-encoding',
  }),
  OUTLAST_DATA_DIR: setting({
    kind: kind.folder,
    default: './.outlast',
    sentence: 'folder of the embedded PostgreSQL',
  }),
  OUTLAST_CERTIFICATES_DIR: setting({
    kind: kind.folder,
    default: './.outlast/certificates',
    sentence: 'folder for copies of the certificates of months that are over',
  }),
  OUTLAST_HEADS_DIR: setting({
    kind: kind.folder,
    example: '/mnt/elsewhere/outlast',
    sentence:
      'folder where the heads of the journal are kept, for `outlast verify --heads`; unset: none',
  }),
  OUTLAST_KEEP_CERTIFICATES: setting({
    kind: kind.names,
    example: 'files.example.org,*.example.net',
    sentence:
      'hosts whose files behind certificate links are fetched and kept; *: any; unset: none are kept',
  }),
};

const manners = {
  OUTLAST_MAX_RPS: setting({
    kind: kind.decimal(0.01, 100_000),
    default: '5',
    sentence: 'requests a second at most, per project, over all replicas',
  }),
  OUTLAST_CONCURRENCY: setting({
    kind: kind.whole(1, 64),
    default: '4',
    sentence: 'requests under way at a time for the days of a project',
  }),
  OUTLAST_TIMEOUT_MS: setting({
    kind: kind.whole(100, 600_000),
    default: '10000',
    sentence: 'how long one request may take, in milliseconds',
  }),
  OUTLAST_REFRESH_HOURS: setting({
    kind: kind.decimal(0.01, 24 * 28),
    default: '6',
    sentence: 'how often the NFT classes of the window are read again',
  }),
  OUTLAST_TOKENS_HOURS: setting({
    kind: kind.decimal(0, 24 * 28),
    default: '24',
    sentence: 'how often the tokens and their fees are read; 0: never',
  }),
};

const service = {
  OUTLAST_DEADLINE_MARGIN_HOURS: setting({
    kind: kind.decimal(0, 24 * 20),
    default: '24',
    sentence: 'how long before a month vanishes its work should be done',
  }),
  OUTLAST_SCHEDULE: setting({
    kind: kind.cron,
    default: '* * * * *',
    sentence: 'when `outlast start` looks for work: a cron expression',
  }),
  OUTLAST_LEASE_SECONDS: setting({
    // Renewed after a third of it: a shorter one would be lost by a busy machine. Others look every five seconds, so that
    // a project is taken within 30.
    kind: kind.whole(3, 86_400),
    default: '25',
    sentence: 'after how long a silent replica loses its projects to another',
  }),
  OUTLAST_HOST: setting({
    kind: kind.host,
    default: '127.0.0.1',
    sentence: 'address to serve on',
  }),
  OUTLAST_PORT: setting({
    kind: kind.port,
    default: '8080',
    sentence: 'port to serve on; 0: any free one',
  }),
  OUTLAST_READERS_FILE: setting({
    kind: kind.anyText,
    example: './secrets/readers.json',
    sentence: 'who else may read over HTTP: a JSON file, see docs/http.md',
  }),
  OUTLAST_ENV_FILE: setting({
    kind: kind.anyText,
    default: '.env',
    sentence: 'file with further settings; what the environment says comes first',
  }),
  OUTLAST_LOG_LEVEL: setting({
    kind: kind.oneOf(logLevels),
    default: 'info',
    sentence: `how much is logged: ${logLevels.join(', ')}`,
  }),
};

const alerts = {
  OUTLAST_ALERT_WEBHOOK: setting({
    kind: kind.webhookUrl,
    secret: true,
    sentence: 'address that alerts are posted to, see docs/alerts.md; unset: they are only logged',
  }),
  OUTLAST_ALERT_FORMAT: setting({
    kind: kind.oneOf(['json', 'slack', 'dingtalk', 'wecom', 'feishu'] as const),
    default: 'json',
    sentence:
      'how alerts are written: json, dingtalk, wecom, feishu (Lark), or slack for Slack and whatever accepts its messages',
  }),
  OUTLAST_ALERT_SECRET: setting({
    kind: kind.apiSecret,
    secret: true,
    sentence: 'secret that a DingTalk or Feishu robot wants messages signed with; unset: unsigned',
  }),
  OUTLAST_ALERT_REMINDER_HOURS: setting({
    kind: kind.decimal(0.01, 24 * 28),
    default: '24',
    sentence: 'after how long an alert that is still open is told again',
  }),
  OUTLAST_HEARTBEAT_URL: setting({
    kind: kind.webhookUrl,
    secret: true,
    sentence: 'address called after a run, once a minute at most, and only while all is well',
  }),
};

const exports = {
  OUTLAST_EXPORT_TO: setting({
    kind: kind.place,
    example: 's3://bucket/prefix',
    sentence:
      'where `outlast start` exports to: a folder, or s3://bucket/prefix, see docs/export.md; unset: nowhere',
  }),
  OUTLAST_EXPORT_SCHEDULE: setting({
    kind: kind.cron,
    default: '20 3 * * *',
    sentence: 'when it does: a cron expression',
  }),
  OUTLAST_EXPORT_FORMAT: setting({
    kind: kind.oneOf(fileFormats),
    default: 'parquet',
    sentence: 'what it writes: parquet, which needs DuckDB, csv or jsonl',
  }),
  OUTLAST_BUCKET_ADDRESSING: setting({
    kind: kind.oneOf(['path', 'host'] as const),
    example: 'host',
    sentence:
      "where a bucket's name goes: path or host; unset: host at AWS, path at another endpoint",
  }),
};

export const table = { ...platform, ...archive, ...manners, ...service, ...alerts, ...exports };

export type SettingName = keyof typeof table;

/** What reading a setting gives: null only where there is no default. */
export type SettingValue<Name extends SettingName> =
  (typeof table)[Name] extends Setting<infer T, infer Default>
    ? Default extends string
      ? T
      : T | null
    : never;

type NamedSetting = { name: SettingName; about: Setting<unknown, string | null> };
const listed = (some: Partial<typeof table>): NamedSetting[] =>
  Object.entries(some).map(([name, about]) => ({ name: name as SettingName, about }));

/** In the order in which people see them, each under its title. */
export const settingGroups = [
  { title: 'The platform', settings: listed(platform) },
  { title: 'The archive', settings: listed(archive) },
  { title: 'Manners towards the platform', settings: listed(manners) },
  { title: 'The service', settings: listed(service) },
  { title: 'Alerts', settings: listed(alerts) },
  { title: 'Exports', settings: listed(exports) },
];
export const settings = settingGroups.flatMap((group) => group.settings);

const exampleHead = `# Settings of Outlast. Copy this file to .env and take away the # where you set something: Outlast reads the .env of the
# folder that it is started in, or the file that OUTLAST_ENV_FILE in its environment names. A value ends at the first #
# unless it stands between '…'.
#
# Each secret can instead come from a file, as Docker and Kubernetes mount them: NAME_FILE=/path.
`;

/** The settings as .env.example: every one a comment, with its default. A test keeps the file equal to this text. */
export function envExample(): string {
  return settingGroups
    .map((group) => {
      const lines = group.settings
        // Inside such a file it would come too late.
        .filter(({ name }) => name !== 'OUTLAST_ENV_FILE')
        .map(({ name, about }) => {
          const value = about.default ?? about.example ?? '';
          return `\n# ${about.sentence}\n# ${name}=${value.includes(' ') ? `"${value}"` : value}\n`;
        });
      return `\n# --- ${group.title} ---\n${lines.join('')}`;
    })
    .reduce((text, part) => text + part, exampleHead);
}

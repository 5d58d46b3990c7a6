// The kinds of values a setting can have: each turns text into a value, or says what is wrong with it and what to do.
// Pure. A mistake is the end of a sentence that begins with the setting's name.
import { isIP } from 'node:net';
import { validate as isCron } from 'node-cron';
import { mistakesIn } from '../database-address.ts';

type Checked<T> = { value: T } | { mistake: string };
export type ValueParser<T> = (text: string) => Checked<T>;

const wrong = (text: string, advice: string): { mistake: string } => ({
  mistake: `is ${quoted(text)}: ${advice}.`,
});

/** Only for values that are no secrets; a pasted novel is cut short. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** Refuses a value in quotation marks, which nobody means to be part of it. A secret is not quoted in turn (P10). */
export const unquoted =
  <T>(kind: ValueParser<T>): ValueParser<T> =>
  (text) =>
    /^(["'`]).*\1$|^[“„‘].*[”“’]$/s.test(text) && text.length > 1
      ? {
          mistake:
            'stands in quotes, which `docker run --env-file` and files of secrets keep as a part of it: take them away.',
        }
      : kind(text);

export const anyText: ValueParser<string> = (value) => ({ value });

const schemeOf = (text: string): string | undefined =>
  /^[a-z][a-z0-9+.-]+:\/\//i.exec(text)?.[0].toLowerCase();

/** Taken for a path, `gs://bucket` would be a folder of that name, and what went there a success. */
const pathOr =
  (scheme: string | null, advice: string): ValueParser<string> =>
  (text) =>
    [undefined, scheme].includes(schemeOf(text))
      ? { value: text }
      : { mistake: `begins with ${schemeOf(text)}: give the path of a folder${advice}.` };

export const folder = pathOr(null, '');

/** A folder or a bucket, whose address is read where it is opened. */
export const place = pathOr(
  's3://',
  ', or s3://bucket/prefix, with AWS_ENDPOINT_URL_S3 for a store that is not Amazon’s',
);

const numeric =
  (form: RegExp, name: string) =>
  (least: number, most: number): ValueParser<number> =>
  (text) => {
    const value = form.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return { value };
    return wrong(text, `give a ${name} from ${least} to ${most}`);
  };

export const decimal = numeric(/^\d+(\.\d+)?$/, 'number');
export const whole = numeric(/^\d{1,15}$/, 'whole number');

/** A port. Kubernetes puts `tcp://…` into NAME_PORT for a Service called NAME. */
export const port: ValueParser<number> = (text) =>
  text.startsWith('tcp://')
    ? wrong(
        text,
        'Kubernetes set it for a Service of that name; give a port, or set enableServiceLinks to false',
      )
    : whole(0, 65_535)(text);

export function oneOf<T extends string>(values: readonly T[]): ValueParser<T> {
  return (text) => {
    const value = values.find((one) => one === text);
    return value === undefined ? wrong(text, `give one of ${values.join(', ')}`) : { value };
  };
}

export const projectName: ValueParser<string> = (text) =>
  /^[a-z0-9_-]{1,40}$/.test(text)
    ? { value: text }
    : wrong(text, 'give 1 to 40 characters of a-z, 0-9, _ and -');

/** An http(s) address, perhaps with a path in front of the interface's own; without a slash at its end. */
export const httpUrl: ValueParser<string> = (text) => {
  // Never quoted: people paste addresses with a password inside (P10).
  if (!URL.canParse(text)) {
    return { mistake: 'is no address: give one such as https://platform.example.' };
  }
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { mistake: 'must begin with https:// or http://.' };
  }
  if (url.username !== '' || url.password !== '') {
    return { mistake: 'must not hold a user or a password: take them out of the address.' };
  }
  if (/[?#]/.test(text)) {
    return { mistake: 'must not have a query or a fragment: leave out what follows ? or #.' };
  }
  const [list] =
    /\/(?:v3\/orders|v1beta1\/nft\/classes|token\/tokens)\/*$/.exec(url.pathname) ?? [];
  if (list !== undefined) {
    return {
      mistake: `ends with ${list.replace(/\/+$/, '')}, which is added to it: leave that out.`,
    };
  }
  return { value: url.href.replace(/\/+$/, '') };
};

/** An http(s) address that is called as it is, token and all: a secret, never quoted (P10). */
export const webhookUrl: ValueParser<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isHttp = url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
  if (!isHttp) {
    return { mistake: 'is no address: give the one you were given, with https:// or http://.' };
  }
  // It would end up in a header, where it must be decoded.
  return /%(?![0-9a-f]{2})/i.test(url.username + url.password)
    ? { mistake: 'has a % in its user or password that is not followed by two digits: write %25.' }
    : { value: text };
};

export const databaseUrl: ValueParser<string> = (text) => {
  const mistakes = mistakesIn(text);
  return mistakes.length === 0 ? { value: text } : { mistake: `${mistakes.join('; it ')}.` };
};

export const host: ValueParser<string> = (text) =>
  isIP(text) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text)
    ? { value: text }
    : wrong(
        text,
        'give an IP address or a host name alone, without port or brackets, such as 127.0.0.1',
      );

export const cron: ValueParser<string> = (text) =>
  isCron(text) ? { value: text } : wrong(text, 'give a cron expression such as "*/5 * * * *"');

/** Names separated by commas, each once. */
export const names: ValueParser<string[]> = (text) => {
  const value = [...new Set(text.split(',').map((name) => name.trim()))].filter(
    (name) => name !== '',
  );
  return value.length > 0 ? { value } : wrong(text, 'give names separated by commas');
};

/** What an HTTP header can carry; never quoted (P10). */
export const apiKey: ValueParser<string> = (value) =>
  /^[\x21-\x7e]+$/.test(value)
    ? { value }
    : {
        mistake:
          'holds a space or a character outside visible ASCII: copy it from the platform again.',
      };

/** Any text; blanks around it are a slip of copying, and the platform would only say 403. Never quoted (P10). */
export const apiSecret: ValueParser<string> = (value) =>
  value === value.trim()
    ? { value }
    : { mistake: 'begins or ends with a blank: copy it from the platform again.' };

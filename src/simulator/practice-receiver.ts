// A receiver to practise alerts on: it takes a message in the format it was told to be of, checks a robot's signature
// and answers as the robot does. The signature is written anew, so that a sender that signs wrongly is noticed.
import { createHmac } from 'node:crypto';
import type { QueryParameters } from '../platform/target.ts';
import { objectIn } from './simulated-list.ts';

/** What the robots of DingTalk and Feishu sign with here. */
export const alertSecret = 'alert-secret-not-a-secret';

/** What the sender is answered; `lines`: what a person is shown. */
type Received = { status: number; body: string; lines: string[] };

type Fields = Record<string, unknown>;

type Receiver = {
  /** The message's words, if it is one of this format. */
  words(sent: Fields): unknown;
  yes: string;
  /** Of the robots that sign. `sign` is undefined where the message is not signed. */
  robot?: {
    signature(sent: Fields, query: QueryParameters): { timestamp: unknown; sign: unknown };
    expected: (timestamp: string) => string;
    msOf: (timestamp: string) => number;
    no(why: string): object;
  };
};

const hmac = (key: string, text: string): string =>
  createHmac('sha256', key).update(text).digest('base64');

const receivers: Record<string, Receiver> = {
  json: { words: ({ source, text }) => (source === 'outlast' ? text : undefined), yes: '' },
  slack: { words: ({ text }) => text, yes: 'ok' },
  wecom: { words: textOfMessage, yes: '{"errcode":0,"errmsg":"ok"}' },
  dingtalk: {
    words: textOfMessage,
    yes: '{"errcode":0,"errmsg":"ok"}',
    robot: {
      signature: (_, query) => ({ timestamp: query.get('timestamp'), sign: query.get('sign') }),
      expected: (timestamp) => hmac(alertSecret, `${timestamp}\n${alertSecret}`),
      msOf: Number,
      no: (errmsg) => ({ errcode: 310_000, errmsg }),
    },
  },
  feishu: {
    words: ({ content }) => (content as Fields | undefined)?.['text'],
    yes: '{"code":0,"msg":"success"}',
    robot: {
      signature: ({ timestamp, sign }) => ({ timestamp, sign }),
      expected: (timestamp) => hmac(`${timestamp}\n${alertSecret}`, ''),
      msOf: (timestamp) => 1000 * Number(timestamp),
      no: (msg) => ({ code: 19_021, msg }),
    },
  },
};

function textOfMessage({ text }: Fields): unknown {
  return (text as Fields | undefined)?.['content'];
}

/** Null: there is no such format. `now`: real time, for a robot's clock is not the platform's. */
export function receiveAlert(
  format: string,
  text: string,
  query: QueryParameters,
  now: number,
): Received | null {
  const receiver = Object.hasOwn(receivers, format) ? receivers[format] : undefined;
  if (receiver === undefined) return null;
  const sent = objectIn(text);
  const words = receiver.words(sent);
  if (typeof words !== 'string') {
    return { status: 400, body: `no ${format}\n`, lines: [`refused: no alert as ${format}`] };
  }
  const lines = words.split('\n').map((line) => `  ${line}`);
  const taken = (how: string): Received => ({
    status: 200,
    body: receiver.yes,
    lines: [`alert as ${format}${how}`, ...lines],
  });
  const { robot } = receiver;
  if (robot === undefined) return taken('');
  const { timestamp, sign } = robot.signature(sent, query);
  if (sign === undefined) return taken(', not signed');
  const why = mistakeOf(robot, String(timestamp), sign, now);
  if (why === null) return taken(', its signature is right');
  return {
    status: 200,
    body: JSON.stringify(robot.no(why)),
    lines: [`refused, ${why}: alert as ${format}`, ...lines],
  };
}

/** As long as the robots take a signature for. */
const holdsMs = 3_600_000;

function mistakeOf(
  { expected, msOf }: NonNullable<Receiver['robot']>,
  timestamp: string,
  sign: unknown,
  now: number,
): string | null {
  if (sign !== expected(timestamp)) return 'its signature is wrong';
  return Math.abs(msOf(timestamp) - now) < holdsMs ? null : 'its signature is over an hour old';
}

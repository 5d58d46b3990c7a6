// A real HTTP server on loopback that takes alerts and heartbeats, or does what receivers do when they are not well.
import { createServer, type ServerResponse } from 'node:http';
import { listenHere } from './loopback.ts';

export type Told = { project: string; kind: string; subject: string; state: string; text: string };
export type Body = { text: string; alerts: Told[]; left_out: number };

export type Mood = 'takes' | 'hangs' | 'drips' | 'fails' | 'refuses' | 'redirects' | 'cuts';

export type Receiver = {
  url: string;
  /** Bodies of the requests so far, also of those that were not taken; '' of a GET. */
  bodies: string[];
  /** Path and query of the requests so far, and two of their headers. */
  requests: { path: string; authorization: string | undefined; agent: string | undefined }[];
  /** How it answers from now on. */
  be(mood: Mood): void;
  /** Answers so from now on. */
  say(status: number, text: string): void;
  /** What was told so far, alert by alert. */
  told(): Told[];
  close(): Promise<void>;
};

const moods: Record<Mood, (response: ServerResponse) => void> = {
  takes: (response) => void response.writeHead(204).end(),
  hangs: () => undefined,
  drips: (response) => void response.writeHead(200).write('.'),
  fails: (response) => void response.writeHead(500).end('a page that explains nothing'),
  // As a robot of DingTalk does.
  refuses: (response) => void response.end('{"errcode":310000,"errmsg":"keywords not in content"}'),
  redirects: (response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
  cuts: (response) => void response.socket?.destroy(),
};

export async function startReceiver(): Promise<Receiver> {
  let answer = moods.takes;
  const bodies: string[] = [];
  const requests: Receiver['requests'] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      bodies.push(body);
      const { authorization, 'user-agent': agent } = request.headers;
      requests.push({ path: request.url ?? '', authorization, agent });
      answer(response);
    });
  });
  const { port, close } = await listenHere(server);
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    requests,
    be: (mood) => (answer = moods[mood]),
    say: (status, text) => (answer = (response) => void response.writeHead(status).end(text)),
    told: () => bodies.flatMap((body) => (JSON.parse(body) as Body).alerts),
    close,
  };
}

// A real HTTP server on loopback that takes alerts and heartbeats, or does what receivers do when they are not well.
import { createServer, type ServerResponse } from 'node:http';
import { listenHere } from './loopback.ts';

type Told = { project: string; kind: string; subject: string; state: string; text: string };
export type Mood = 'takes' | 'hangs' | 'drips' | 'fails' | 'refuses' | 'redirects' | 'cuts';

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

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

export async function startReceiver() {
  let answer = moods.takes;
  /** Of the requests so far, also of those that were not taken; '' of a GET. */
  const bodies: string[] = [];
  const requests: { path: string; authorization: string | undefined; agent: string | undefined }[] =
    [];
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
    /** How it answers from now on. */
    be: (mood: Mood): void => void (answer = moods[mood]),
    /** Answers so from now on. */
    say: (status: number, text: string): void =>
      void (answer = (response) => void response.writeHead(status).end(text)),
    /** What was told so far, alert by alert. */
    told: (): Told[] => bodies.flatMap((body) => (JSON.parse(body) as { alerts: Told[] }).alerts),
    close,
  };
}

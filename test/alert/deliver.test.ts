// One delivery, against real servers in every mood: a verdict each time, in time, and never a word of the address.
import { createHmac } from 'node:crypto';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deliver } from '../../src/alert/deliver.ts';
import type { AlertFormat } from '../../src/alert/receivers.ts';
import { listenHere } from '../support/loopback.ts';
import { startReceiver, type Mood, type Receiver } from '../support/receiver.ts';

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

const to = (more: object = {}) =>
  deliver({ url: `${receiver.url}/in?token=sesame`, body: '{}', timeoutMs: 30_000, ...more });

it.each<[Mood, string | null]>([
  ['takes', null],
  ['drips', null],
  ['fails', 'status 500, "a page that explains nothing"'],
  ['redirects', 'status 302, and redirects are not followed'],
  ['hangs', 'no answer within 1.5 s'],
  ['cuts', 'UND_ERR_SOCKET'],
])('a receiver that %s: %s', async (mood, verdict) => {
  receiver.be(mood);
  const isEndless = mood === 'hangs' || mood === 'drips';
  expect(await to(isEndless ? { timeoutMs: 1_500 } : {})).toBe(verdict);
  // Once: nothing is repeated, and no redirect is followed.
  expect(receiver.requests.map(({ path }) => path)).toEqual(['/in?token=sesame']);
});

describe('an answer of 200', () => {
  const sign = 'set OUTLAST_ALERT_SECRET to the secret that the robot signs with';
  const keyword = 'let the robot’s keyword be Outlast';
  const format = 'a robot of DingTalk, WeCom or Feishu needs its own';
  it.each<[AlertFormat, string, string | RegExp | null]>([
    ['dingtalk', '{"errcode":0,"errmsg":"ok"}', null],
    ['dingtalk', '{"errcode":310000,"errmsg":"sign not match"}', sign],
    ['dingtalk', '{"errcode":310000,"errmsg":"错误描述:关键词不匹配"}', keyword],
    [
      'dingtalk',
      '{"status":1111,"errcode":130101,"errmsg":"send too fast"}',
      'errcode 130101, "send',
    ],
    ['wecom', '{"errcode":0,"errmsg":"ok"}', null],
    ['wecom', '{"errcode":93000,"errmsg":"invalid webhook url"}', '93000, "invalid webhook url"'],
    [
      'feishu',
      '{"StatusCode":0,"StatusMessage":"success","code":0,"data":{},"msg":"success"}',
      null,
    ],
    ['feishu', '{"Extra":null,"StatusCode":0,"StatusMessage":"success"}', null],
    ['feishu', '{"code":19021,"data":{},"msg":"sign match fail or timestamp is not …"}', sign],
    ['feishu', '{"code":19024,"data":{},"msg":"Key Words Not Found"}', keyword],
    ['feishu', '<html>Please sign in to the network</html>', 'not the robot’s'],
    ['wecom', '', 'not the robot’s'],
    // No secret is advised.
    ['dingtalk', '{"errcode":310000,"errmsg":"not assigned to a design"}', /^status 200 with .*"$/],
    ['wecom', '{"errcode":40001,"errmsg":"invalid signature"}', /^status 200 with .*"$/],
    ['json', '{"ok":false,"error":"no signature"}', /^status 200 with .*"$/],
    // Sent to a robot as something else.
    ['json', '{"errcode":40035,"errmsg":"不合法的参数"}', format],
    ['json', '{"code":9499,"msg":"Bad Request","data":{}}', format],
    ['slack', '{"StatusCode":1,"StatusMessage":"no"}', format],
    ['json', '{"code":19021,"msg":"sign match fail"}', format],
    ['slack', 'ok', null],
    ['slack', '1', null],
    ['slack', 'Webhook message delivery failed with error: … HTTP error 429 …', 'HTTP error 429'],
    ['slack', '{"ok":false,"error":"channel_not_found"}', 'ok false, "channel_not_found"'],
    ['json', '{"success":false}', 'success false'],
    ['json', '', null],
    ['json', '{"code":200,"msg":"ok"}', null],
    ['json', '{"code":20000,"msg":"成功"}', null],
    ['json', '{"code":10000,"msg":"Success","data":{}}', null],
    ['json', '{"code":100,"message":"ok"}', null],
    ['json', '{"errcode":7,"note":"queued"}', null],
    ['json', 'OK (not found)', 'not found'],
    ['json', 'OK', null],
  ])('to %s: %s', async (form, text, problem) => {
    receiver.say(200, text);
    const said = await to({ format: form });
    if (problem === null) expect(said).toBeNull();
    else expect(said).toMatch(problem);
  });

  it('P10: may repeat the address and the secret, which are not told on', async () => {
    const secret = 'SEC-0123456789';
    const sent = {
      format: 'dingtalk',
      secret,
      url: `${receiver.url}/a-hook/long-token/in+base64%3D%3D?key=a%2Blonger`,
    };
    const repeated = `no ${secret} ${'-'.repeat(150)} ${sent.url} in+base64== a+longer`;
    receiver.say(200, JSON.stringify({ errcode: 1, errmsg: repeated }));
    const refused = (await to(sent)) ?? '';
    receiver.say(404, `${sent.url} ${secret}`);
    for (const said of [refused, (await to(sent)) ?? '']) {
      expect(said).toContain('…');
      for (const piece of [secret, 'long-token', 'base64', 'longer'])
        expect(said).not.toContain(piece);
    }
  });
});

describe('a robot that wants it signed gets', () => {
  const secret = 'SEC0123456789';
  const sha256 = (key: string, text: string): string =>
    createHmac('sha256', key).update(text).digest('base64');

  it('of DingTalk: time and signature in the address', async () => {
    await to({ format: 'dingtalk', secret, url: `${receiver.url}/robot/send?access_token=a%2Bb` });
    const { searchParams } = new URL(receiver.requests[0]?.path ?? '', receiver.url);
    const at = searchParams.get('timestamp') ?? '';
    expect(Math.abs(Number(at) - Date.now())).toBeLessThan(60_000);
    expect(searchParams.get('sign')).toBe(sha256(secret, `${at}\n${secret}`));
    expect(searchParams.get('access_token')).toBe('a+b');
  });

  it('of Feishu: both in the body, and the time in seconds', async () => {
    await to({ format: 'feishu', secret, body: '{"msg_type":"text"}' });
    const body = JSON.parse(receiver.bodies[0] ?? '') as Record<string, string>;
    const at = body['timestamp'] ?? '';
    expect(Math.abs(Number(at) * 1000 - Date.now())).toBeLessThan(60_000);
    expect(body).toEqual({ msg_type: 'text', timestamp: at, sign: sha256(`${at}\n${secret}`, '') });
  });
});

it('posts JSON, and calls a heartbeat with a plain GET', async () => {
  await to({ body: '{"a":1}' });
  await to({ body: null });
  expect(receiver.bodies).toEqual(['{"a":1}', '']);
});

it('names the heads of the journal as its user agent, which receivers log of a plain GET', async () => {
  const head = { project: 'p', no: 17, at: '2026-04-06T12:00:00Z', head: '3f'.repeat(32) };
  await to({ body: null, heads: [head] });
  await to({ body: null });
  expect(receiver.requests.map(({ agent }) => agent)).toEqual([
    `outlast (p 17 ${head.head})`,
    'outlast',
  ]);
});

it('sends a user and a password in the address as a header', async () => {
  const url = new URL('/in', receiver.url);
  url.username = 'ops';
  url.password = 'p@ss word';
  await to({ url: url.href });
  const authorization = `Basic ${Buffer.from('ops:p@ss word').toString('base64')}`;
  expect(receiver.requests).toMatchObject([{ path: '/in', authorization }]);
});

it('ends at once when the process leaves', async () => {
  receiver.be('hangs');
  const stop = new AbortController();
  const delivery = to({ timeoutMs: 60_000, signal: stop.signal });
  setTimeout(() => stop.abort(), 50);
  expect(await delivery).toBe('stopped before it was answered');
  expect(await to({ signal: stop.signal })).toBe('stopped before it was answered');
});

it('says of nobody listening, or of a server that speaks no HTTP, only a code', async () => {
  const silent = createServer((socket) =>
    socket
      .on('error', () => undefined)
      .resume()
      .end('SSH-2.0-nonsense\r\n'),
  );
  const { port, close } = await listenHere(silent);
  const odd = await to({ url: `http://127.0.0.1:${port}/secret` });
  await close();
  const nobody = await to({ url: `http://127.0.0.1:${port}/secret` });
  expect(odd).toMatch(/^[A-Z_]+$|^the connection failed$/);
  expect(nobody).toBe('ECONNREFUSED');
});

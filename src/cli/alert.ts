// `outlast alert`: the alerts on record, and whether somebody was told; --test sends the webhook a message. Needs no
// key.
import type { Command } from 'commander';
import { deliver } from '../alert/deliver.ts';
import { testBody } from '../alert/message.ts';
import { settingsError, transient } from '../errors.ts';
import { checkProxies, readSettings, type Settings } from '../settings/settings.ts';
import { isAlertOver, readAlertRows, type KnownAlert } from '../store/alerts/alert-rows.ts';
import { openToRead, wantedProjects, withStore } from './app.ts';
import { print, printable, printJson } from './print.ts';

export const alertCommand = (command: Command): Command =>
  command
    .option('--test', 'send the webhook a test message instead')
    .option('--project <name>', 'only this project')
    .option('--json', 'print it as JSON')
    .action(async (flags: { test?: true; project?: string; json?: true }) => {
      const settings = readSettings({ needs: 'database' });
      if (flags.test === true) await sendTest(settings, flags.json === true);
      else await list(settings, flags.project ?? null, flags.json === true);
    });

/** Throws settings `no_webhook`, and transient `webhook_failed` with what became of the message. */
async function sendTest({ alerts }: Settings, asJson: boolean): Promise<void> {
  const { webhookUrl: url, format, secret } = alerts;
  if (url === null) {
    throw settingsError(
      'no_webhook',
      'OUTLAST_ALERT_WEBHOOK is not set: give the address that alerts are to be posted to, or the file that holds it as OUTLAST_ALERT_WEBHOOK_FILE.',
    );
  }
  checkProxies();
  const problem = await deliver({ url, format, secret, body: testBody(format) });
  if (problem !== null) {
    throw transient('webhook_failed', `The webhook did not take the test message: ${problem}.`);
  }
  if (asJson) printJson({ taken: true });
  else print('The webhook took the test message: look whether it arrived.');
}

async function list(settings: Settings, project: string | null, asJson: boolean): Promise<void> {
  await withStore(openToRead, settings, async ({ db }) => {
    const alerts = await readAlertRows(db, project);
    // A misspelt name must not pass for a project without alerts.
    if (project !== null && alerts.length === 0) await wantedProjects(db, project);
    if (asJson) printJson({ alerts: alerts.map(asShown) });
    else if (alerts.length === 0) print('No known problems.');
    else print(alerts.map(linesOf).join('\n'));
  });
}

const asShown = (alert: KnownAlert) => ({
  project: alert.projectId,
  kind: alert.kind,
  subject: alert.subject,
  state: stateOf(alert),
  text: alert.text,
  since: new Date(alert.openedAt).toISOString(),
  told_at: alert.toldAt === null ? null : new Date(alert.toldAt).toISOString(),
  tries: alert.attempts,
});

function stateOf(alert: KnownAlert): 'open' | 'over' | 'news' {
  if (alert.resolvedAt === null) return 'open';
  return isAlertOver(alert) ? 'over' : 'news';
}

/** `open  shop, since 2026-04-06 12:00, told 2026-04-06 12:01 (UTC)`, and below it what it says. */
function linesOf(alert: KnownAlert): string {
  const { projectId, openedAt, toldAt, attempts } = alert;
  const told =
    toldAt !== null
      ? `told ${minuteOf(toldAt)}`
      : attempts === 0
        ? 'not told'
        : `not told, tried ${attempts === 1 ? 'once' : `${attempts} times`}`;
  return `${stateOf(alert)}  ${projectId}, since ${minuteOf(openedAt)}, ${told} (UTC)\n      ${printable(alert.text)}`;
}

const minuteOf = (at: number): string => new Date(at).toISOString().slice(0, 16).replace('T', ' ');

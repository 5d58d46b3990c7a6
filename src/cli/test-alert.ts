// `outlast status --test-alert`: sends the webhook a test message. Needs no key and no database.
import { deliver } from '../alert/deliver.ts';
import { testBody } from '../alert/message.ts';
import { settingsError, transient } from '../errors.ts';
import { checkProxies, readSettings } from '../settings/settings.ts';
import { print, printJson } from './print.ts';

/** Throws settings `no_webhook`, and transient `webhook_failed` with what became of the message. */
export async function sendTestAlert({ json }: { json?: true }): Promise<void> {
  const { webhookUrl: url, format, secret } = readSettings({ needs: 'database' }).alerts;
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
  if (json === true) printJson({ taken: true });
  else print('The webhook took the test message: look whether it arrived.');
}

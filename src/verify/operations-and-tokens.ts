// What should be held of the resources that no list of days shows: the results of every operation that is done, the
// files that were kept, the tokens of the newest look. What was never asked for cannot be missed.
import type { ProjectId } from '../model.ts';
import type { Narrowed } from '../store/held-for-proof.ts';
import type { Tx } from '../store/db.ts';
import {
  readFiles,
  readFilesUnheld,
  readOperationsUnheld,
  readTokensUnheld,
  readUnaskedResults,
  type HeldFile,
  type OperationUnheld,
} from '../store/operations/contents.ts';
import type { Report } from './finding.ts';

/** Operations against their results (P1, P4). */
export async function checkOperations(
  tx: Tx,
  projectId: ProjectId,
  days: Narrowed,
  report: Report,
): Promise<void> {
  await readOperationsUnheld(tx, projectId, days, async (unheld) => {
    for (const operation of unheld) {
      const says = whatIsGone(operation);
      await report({ kind: 'missing', when: null, id: operation.id, says });
    }
  });
  await readUnaskedResults(tx, projectId, days, async (unasked) => {
    for (const { id } of unasked) {
      const says = 'something is held of an operation that nobody gave';
      await report({ kind: 'extra', when: null, id, says });
    }
  });
}

const whatIsGone = ({ gone }: OperationUnheld): string =>
  gone.length === 0
    ? 'the operation is done, and no result of it is held'
    : `its result by ${gone.join(' and ')} was held, and no row holds it`;

/** Returns how many certificate files there are. */
export async function checkCertificateFiles(
  tx: Tx,
  projectId: ProjectId,
  days: Narrowed,
  report: Report,
): Promise<number> {
  let checked = 0;
  await readFiles(tx, projectId, days, async (files) => {
    checked += files.length;
    for (const file of files) {
      const says = [...whatIsWrong(file)].join('; ');
      if (says !== '') await report({ kind: 'altered', when: null, id: file.id, says });
    }
  });
  await readFilesUnheld(tx, projectId, days, async (unheld) => {
    for (const { id } of unheld) {
      const says = 'its certificate file was kept, and is no longer held';
      await report({ kind: 'missing', when: null, id, says });
    }
  });
  return checked;
}

function* whatIsWrong(file: HeldFile): Generator<string> {
  if (file.is_altered) yield 'the bytes of its certificate file have another digest';
  if (file.is_other) yield 'its certificate file is not the one that was kept';
  if (file.is_unnamed) yield 'no result held names the link of its certificate file';
}

/** P1: the newest look claims no token that is not held. */
export async function checkTokens(tx: Tx, projectId: ProjectId, report: Report): Promise<void> {
  await readTokensUnheld(tx, projectId, async (unheld) => {
    for (const { id } of unheld) {
      const says = 'the newest look showed it, and no row holds it';
      await report({ kind: 'missing', when: null, id, says });
    }
  });
}

// The routes of what is asked for by name: transaction results and tokens. Who may ask is gate.ts.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiVersion } from '../model.ts';
import type { Archive } from '../query/types.ts';
import { targetOf, type Query } from '../platform/target.ts';
import type { Answer } from './answers.ts';
import { admitByKey, type Gate } from './gate.ts';
import { answerFees, answerToken, answerTokens, nodeError } from './tokens.ts';
import { answerTransaction } from './transactions.ts';

type Named = { archive: Archive; project: string; query: Query; name: string };

/** What these routes need of the server: who is let in, how an answer is sent, what an error is answered with. */
export type Serving = {
  archive: Archive;
  gate: Gate;
  /** Signed like the platform's own; an answer instead of a project where nobody is let in. */
  admitted: (request: FastifyRequest) => { project: string } | Answer;
  send: (reply: FastifyReply, answer: Answer) => FastifyReply;
  answerOf: (error: unknown) => Answer;
};

const nameIn = (request: FastifyRequest): string =>
  (request.params as { name?: string }).name ?? '';

export function addUnlisted(app: FastifyInstance, serving: Serving): void {
  const { archive, gate, admitted, send, answerOf } = serving;

  const lookup =
    (apiVersion: ApiVersion) => async (request: FastifyRequest, reply: FastifyReply) => {
      const admission = admitted(request);
      if ('status' in admission) return send(reply, admission);
      return send(
        reply,
        await answerTransaction(archive, admission.project, apiVersion, nameIn(request)),
      );
    };
  app.get('/v1beta1/tx/:name', lookup('v1beta1'));
  app.get('/v3/native/tx/:name', lookup('v3'));

  // Group A: no signature, and errors in a node's shape.
  const token =
    (answer: (named: Named) => Promise<Answer>) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      const target = targetOf(request.raw.url ?? '/');
      const admission = admitByKey(gate, request.headers);
      if (admission.kind === 'forbidden') {
        return send(reply, nodeError(403, 'authentication failed'));
      }
      if (admission.kind === 'unnamed') {
        return send(reply, nodeError(400, 'several projects are served: name one by X-Api-Key'));
      }
      const named = { ...admission, archive, query: target.query, name: nameIn(request) };
      return send(reply, await answer(named).catch((error: unknown) => ofNode(answerOf(error))));
    };
  app.get(
    '/token/tokens',
    token((of) => answerTokens(of.archive, of.project, of.query)),
  );
  app.get(
    '/token/tokens/:name',
    token((of) => answerToken(of.archive, of.project, of.name)),
  );
  for (const path of ['fee', 'fees']) {
    app.get(
      `/token/tokens/:name/${path}`,
      token((of) => answerFees(of.archive, of.project, of.name)),
    );
  }
}

/** The platform's error body as a node's. */
function ofNode({ body, ...answer }: Answer): Answer {
  const { error } = JSON.parse(String(body)) as { error: { message: string } };
  return { ...answer, body: nodeError(answer.status, error.message).body };
}

// Why a TLS certificate is not accepted, in a sentence that says what to do. Knows nothing of who shows it.

const passing: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED:
    'it has expired. Renew it on the server, or set the clock of this machine right',
  CERT_NOT_YET_VALID: 'it is not valid yet. Set the clock of this machine right',
};

/** Codes of OpenSSL's verification, as Node gives them. */
const noAuthority = [
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

/**
 * Why a certificate is not accepted, as the end of that sentence, without a full stop; null for codes of anything else.
 * `advice`: what to do where the authority is not known, and where the host is another.
 */
export function certificateProblem(
  code: string,
  advice: { authority: string; host: string },
): string | null {
  const reason = noAuthority.includes(code)
    ? `no authority that is known here has signed it. ${advice.authority}`
    : code === 'ERR_TLS_CERT_ALTNAME_INVALID'
      ? `it was made out to another host. ${advice.host}`
      : passing[code];
  return reason === undefined ? null : `(${code}): ${reason}`;
}

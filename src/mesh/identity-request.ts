import { type CertificateRequest, createRequest } from '#net/certificate-request.ts'

/** A request for a certificate with a SPIFFE id. @returns the request in PEM, and the key, which is a secret */
export async function createIdentityRequest(id: string): Promise<{ readonly csr: string; readonly key: string }> {
  const { csr, key }: CertificateRequest = await createRequest([{ type: 'url', value: id }])
  const lines =
    Buffer.from(csr)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return {
    csr: ['-----BEGIN CERTIFICATE REQUEST-----', ...lines, '-----END CERTIFICATE REQUEST-----', ''].join('\n'),
    key,
  }
}

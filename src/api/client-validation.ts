import { defaulted, enumOf, list, openObject, type Parsed, required } from '#schema/index.ts'
import { objectReference } from './platform-fields.ts'

/** Client certificates of incoming TLS (Gateway API, FrontendTLSValidation). */
export const clientValidation = openObject({
  caCertificateRefs: required(
    list(objectReference, { min: 1, max: 16 }),
    'ConfigMaps or Secrets with the CA certificates that client certificates are validated against.',
  ),
  mode: defaulted(
    enumOf('AllowValidOnly', 'AllowInsecureFallback'),
    'AllowValidOnly',
    'AllowValidOnly: reject clients without a valid certificate. AllowInsecureFallback: accept them.',
  ),
})

export type ClientValidationSpec = Parsed<typeof clientValidation>

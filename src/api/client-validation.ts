import { defaulted, enumOf, list, openObject, type Parsed, required } from '#schema/index.ts'
import { objectReference } from './platform-fields.ts'

/** Client certificates of incoming TLS (Gateway API, FrontendTLSValidation). */
export const clientValidation = openObject({
  caCertificateRefs: required(
    list(objectReference, { min: 1, max: 8 }),
    'ConfigMaps or Secrets with the CA certificates of clients.',
  ),
  mode: defaulted(
    enumOf('AllowValidOnly', 'AllowInsecureFallback'),
    'AllowValidOnly',
    'What happens to clients without a valid certificate.',
  ),
})

export type ClientValidationSpec = Parsed<typeof clientValidation>

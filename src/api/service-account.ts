import { boolean, list, openObject, optional, text } from '#schema/index.ts'
import { platformKind } from './object.ts'
import { unread } from './platform-fields.ts'

/** An identity of programs (Kubernetes, core/v1). */
export const serviceAccount = platformKind('ServiceAccount', {
  secrets: optional(
    list(
      openObject({
        name: optional(text(), 'Name of the Secret.'),
        ...unread('apiVersion', 'fieldPath', 'kind', 'namespace', 'resourceVersion', 'uid'),
      }),
    ),
    'Secrets that programs with the identity may use.',
  ),
  imagePullSecrets: optional(
    list(openObject({ name: optional(text(), 'Name of the Secret.') })),
    'Secrets for pulling images.',
  ),
  automountServiceAccountToken: optional(boolean(), 'Whether pods get a token of the identity.'),
})

import { forbiddenField, invalidField, requiredField, tooLongField } from '../kinds/field-errors.ts'
import type { Cause, WrittenObject } from '../kinds/served-kind.ts'
import { formProblem, QUALIFIED_NAME } from '../schemas/name-forms.ts'

const MAX_ANNOTATIONS_BYTES = 256 * 1024
const OWNER_MEMBERS = ['apiVersion', 'kind', 'name', 'uid'] as const

interface Owner {
  readonly apiVersion?: string
  readonly kind?: string
  readonly name?: string
  readonly uid?: string
  readonly controller?: boolean
}

/** Rules for the metadata of every object (Kubernetes, `ValidateObjectMeta`), besides those of its schema. */
export function checkMetadata({ metadata }: Pick<WrittenObject, 'metadata'>): readonly Cause[] {
  const {
    annotations = {},
    finalizers = [],
    ownerReferences = [],
  } = metadata as {
    readonly annotations?: Readonly<Record<string, string>>
    readonly finalizers?: readonly string[]
    readonly ownerReferences?: readonly Owner[]
  }
  const bytes = Object.entries(annotations).reduce((sum, [key, value]) => sum + Buffer.byteLength(key + value), 0)
  const causes: Cause[] = []
  if (bytes > MAX_ANNOTATIONS_BYTES) causes.push(tooLongField('metadata.annotations', MAX_ANNOTATIONS_BYTES))
  for (const finalizer of finalizers) {
    const problem = formProblem(finalizer, QUALIFIED_NAME)
    if (problem !== undefined) causes.push(invalidField('metadata.finalizers', finalizer, problem))
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion'))
    causes.push(
      invalidField('metadata.finalizers', finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'),
    )
  ownerReferences.forEach((owner, index) => {
    for (const name of OWNER_MEMBERS) {
      if (!owner[name]) causes.push(requiredField(`metadata.ownerReferences[${index}].${name}`, 'must not be empty'))
    }
  })
  if (ownerReferences.filter(({ controller }) => controller === true).length > 1)
    causes.push(forbiddenField('metadata.ownerReferences', 'Only one reference can have Controller set to true'))
  return causes
}

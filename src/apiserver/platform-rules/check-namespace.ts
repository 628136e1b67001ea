import { invalidField } from '../kinds/field-errors.ts'
import type { Cause, WrittenObject } from '../kinds/served-kind.ts'
import { formProblem, LABEL_NAME } from '../schemas/name-forms.ts'

/** By this label, selectors find a Namespace by its name (Kubernetes, "Automatic labelling"). */
const NAME_LABEL = 'kubernetes.io/metadata.name'

/** A Namespace as it is stored: with the label of its name, and with its phase. */
export function completeNamespace(written: WrittenObject): WrittenObject {
  const { metadata, status } = written
  const labels = { ...(metadata.labels as object | undefined), [NAME_LABEL]: metadata.name }
  return {
    ...written,
    metadata: { ...metadata, labels },
    status: { phase: 'Active', ...(status as object | undefined) },
  }
}

/** Rules for Namespaces (Kubernetes, `ValidateNamespace`). */
export function checkNamespace({ metadata: { name } }: WrittenObject): readonly Cause[] {
  const problem = formProblem(name, LABEL_NAME)
  return problem === undefined ? [] : [invalidField('metadata.name', name, problem)]
}

import { invalidField, requiredField } from '../kinds/field-errors.ts'
import type { Cause, WrittenObject } from '../kinds/served-kind.ts'
import { formProblem, QUALIFIED_NAME } from '../schemas/name-forms.ts'

const MAX_TEXT = 128
const MAX_NOTE = 1024

/** Names of the same members in the two groups that have Events. */
interface Names {
  readonly subject: 'involvedObject' | 'regarding'
  readonly controller: 'reportingComponent' | 'reportingController'
  readonly note: 'message' | 'note'
}

const CORE: Names = { subject: 'involvedObject', controller: 'reportingComponent', note: 'message' }
const EVENTS: Names = { subject: 'regarding', controller: 'reportingController', note: 'note' }

/** Rules for Events of the core group. Those without `eventTime` are of an older form, with fewer rules (Kubernetes, `ValidateEvent`). */
export function checkCoreEvent(event: WrittenObject): readonly Cause[] {
  return [...checkSubject(event, CORE), ...(event.eventTime ? checkMembers(event, CORE) : [])]
}

/** Rules for Events of events.k8s.io. */
export function checkEvent(event: WrittenObject): readonly Cause[] {
  const missing = event.eventTime ? [] : [requiredField('eventTime')]
  return [...missing, ...checkSubject(event, EVENTS), ...checkMembers(event, EVENTS)]
}

/** An Event is in the namespace of its object; that of an object without namespace is in `default`. */
function checkSubject({ metadata, ...event }: WrittenObject, { subject }: Names): readonly Cause[] {
  const { namespace = '' } = (event[subject] ?? {}) as { readonly namespace?: string }
  const fits = namespace === '' ? metadata.namespace === 'default' : metadata.namespace === namespace
  return fits ? [] : [invalidField(`${subject}.namespace`, namespace, 'does not match event.namespace')]
}

function checkMembers(event: WrittenObject, { controller, note }: Names): readonly Cause[] {
  const text = (name: string) => (typeof event[name] === 'string' ? event[name] : '')
  const causes: Cause[] = []
  if (text(controller) === '') causes.push(requiredField(controller))
  const problem = text(controller) === '' ? undefined : formProblem(text(controller), QUALIFIED_NAME)
  if (problem !== undefined) causes.push(invalidField(controller, text(controller), problem))
  for (const name of ['reportingInstance', 'action', 'reason']) {
    if (text(name) === '') causes.push(requiredField(name))
    if (text(name).length > MAX_TEXT) causes.push(invalidField(name, '', `can have at most ${MAX_TEXT} characters`))
  }
  if (text(note).length > MAX_NOTE) causes.push(invalidField(note, '', `can have at most ${MAX_NOTE} characters`))
  if (!['Normal', 'Warning'].includes(text('type')))
    causes.push(invalidField('type', text('type'), 'has invalid value'))
  const { count } = (event.series ?? {}) as { readonly count?: number }
  if (event.series !== undefined && (count ?? 0) < 2)
    causes.push(invalidField('series.count', count, 'should be at least 2'))
  return causes
}

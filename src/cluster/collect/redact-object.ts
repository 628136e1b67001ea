import { findKind } from '#api/kinds.ts'
import { REDACTED } from '#base/credential-names.ts'
import { hideCredentialMembers } from '#base/hide-credential-members.ts'
import { withoutSecrets } from '#schema/index.ts'
import { itemsOf, type Members, membersOf } from '../kubeconfig.ts'

/** Annotations whose values are shown. Others may hold anything, such as the whole object as it was applied last. */
const SHOWN_ANNOTATION =
  /^(?:[\w.-]+\.)?(?:gatewright\.dev|gateway\.networking\.k8s\.io|meta\.helm\.sh|deployment\.kubernetes\.io|prometheus\.io)\//

/** Variables of containers whose values are shown, unless their names indicate a credential. */
const SHOWN_VARIABLE = /^(?:GATEWRIGHT_|POD_|NODE_NAME$)/

/** Names of our containers, whose command lines are shown. */
const OWN_CONTAINERS: readonly unknown[] = ['controller', 'proxy']

/** An object without its secrets, and without what nobody needs to see. */
export function redactObject(object: Members): Members {
  const info = findKind(String(object.kind))
  const { metadata, ...members } =
    info === undefined ? object : membersOf(withoutSecrets(info.schema, '', object, REDACTED))
  const { managedFields: _, annotations, ...shown } = membersOf(metadata)
  const shortened =
    annotations === undefined ? shown : { ...shown, annotations: hideAnnotations(membersOf(annotations)) }
  return membersOf(hideCredentialMembers(hideContainers({ ...members, metadata: shortened })))
}

function hideAnnotations(annotations: Members): Members {
  const entries = Object.entries(annotations)
  return Object.fromEntries(entries.map(([name, value]) => [name, SHOWN_ANNOTATION.test(name) ? value : REDACTED]))
}

/** Variables and command lines of containers, in pods, in templates of pods and in overlays. */
function hideContainers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hideContainers)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => {
    if (name === 'env') return [name, itemsOf(member).map(hideVariable)] as const
    const isContainers = /^(?:init|ephemeral)?containers$/i.test(name)
    return [name, isContainers ? itemsOf(member).map(hideCommand).map(hideContainers) : hideContainers(member)] as const
  })
  return Object.fromEntries(members)
}

function hideVariable(variable: unknown): unknown {
  const members = membersOf(variable)
  return members.value === undefined || SHOWN_VARIABLE.test(String(members.name))
    ? variable
    : { ...members, value: REDACTED }
}

function hideCommand(container: unknown): unknown {
  const members = membersOf(container)
  if (OWN_CONTAINERS.includes(members.name)) return container
  const hidden = ['command', 'args'].filter((name) => members[name] !== undefined)
  return { ...members, ...Object.fromEntries(hidden.map((name) => [name, REDACTED])) }
}

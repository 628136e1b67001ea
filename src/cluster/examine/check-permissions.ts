import { compareText } from '#base/compare-text.ts'
import { membersOf } from '../kubeconfig.ts'
import { type Check, failure, ok, unknown } from './check.ts'
import type { ClusterReader } from './cluster-reader.ts'
import { describeRights, type Right, type RightsOfController } from './controller-rights.ts'

const REVIEWS = '/apis/authorization.k8s.io/v1'
const API_VERSION = 'authorization.k8s.io/v1'

/** Who is asked about. Undefined: the user of the client. */
type Account = { readonly namespace: string; readonly name: string } | undefined

/** What Helm does with the objects of the charts. */
const INSTALLED: readonly (readonly [group: string, resource: string, isNamespaced: boolean])[] = [
  ['apiextensions.k8s.io', 'customresourcedefinitions', false],
  ['gateway.networking.k8s.io', 'gatewayclasses', false],
  ['rbac.authorization.k8s.io', 'clusterroles', false],
  ['rbac.authorization.k8s.io', 'clusterrolebindings', false],
  ['rbac.authorization.k8s.io', 'roles', true],
  ['rbac.authorization.k8s.io', 'rolebindings', true],
  ['apps', 'deployments', true],
  ['', 'secrets', true],
  ['', 'serviceaccounts', true],
  ['', 'services', true],
  ['networking.k8s.io', 'networkpolicies', true],
  ['policy', 'poddisruptionbudgets', true],
]
const INSTALLING_VERBS = ['get', 'create', 'patch']

/** Checks whether the user may install the charts in a namespace. */
export async function checkInstaller(
  reader: ClusterReader,
  namespace: string,
  controller: RightsOfController,
): Promise<readonly Check[]> {
  const wanted = INSTALLED.flatMap(([group, resource, isNamespaced]) =>
    INSTALLING_VERBS.map((verb) => ({ right: { group, resource, verb }, namespace: isNamespaced ? namespace : '' })),
  )
  const missing = await missingRights(reader, undefined, wanted)
  if ('why' in missing) return [unknown('permissions', 'whether you may install the charts', missing.why)]
  const may =
    missing.rights.length === 0
      ? ok('permissions', `you may install the charts in ${namespace}`)
      : failure(
          'permissions',
          `you may not ${describeRights(missing.rights)}`,
          'let somebody with these rights install the charts',
        )
  return [may, ...(await checkGranting(reader, controller))]
}

/** A role may have only rights that who writes it has, or may give without having them (Kubernetes, "Privilege escalation prevention"). */
async function checkGranting(
  reader: ClusterReader,
  { cluster, read, write, own }: RightsOfController,
): Promise<readonly Check[]> {
  const roles = ['escalate', 'bind'].map((verb) => ({
    right: { group: 'rbac.authorization.k8s.io', resource: 'clusterroles', verb },
    namespace: '',
  }))
  const without = await missingRights(reader, undefined, roles)
  if ('why' in without || without.rights.length === 0) return []
  const all = [...cluster, ...read, ...write, ...own].map((right) => ({ right, namespace: '' }))
  const missing = await missingRights(reader, undefined, all)
  if ('why' in missing || missing.rights.length === 0) return []
  return [
    failure(
      'permissions',
      `you may not give the controller rights that you do not have: ${describeRights(missing.rights)}`,
      'let an administrator install the chart, or install it with rbac.create=false and let one bind files/rights.yaml',
    ),
  ]
}

/** Where a controller reads, and where it runs proxies. */
export interface ControllerPlaces {
  readonly namespace: string
  readonly account: string
  /** Namespaces that it reads; none: all. */
  readonly reads: readonly string[]
  /** Namespaces with Gateways of its class. */
  readonly runs: readonly string[]
}

/** Checks whether the account of a controller has its rights. */
export async function checkAccount(
  reader: ClusterReader,
  { namespace, account, reads, runs }: ControllerPlaces,
  { cluster, read, write, own }: RightsOfController,
): Promise<readonly Check[]> {
  const within = (rights: readonly Right[], places: readonly string[]) =>
    places.flatMap((place) => rights.map((right) => ({ right, namespace: place })))
  const wanted = [
    ...within(cluster, ['']),
    ...within(read, reads.length === 0 ? [''] : reads),
    ...within(write, runs),
    ...within(own, [namespace]),
  ]
  const missing = await missingRights(reader, { namespace, name: account }, wanted)
  const who = `the account ${namespace}/${account}`
  if ('why' in missing) return [unknown('permissions', `what ${who} may do`, missing.why)]
  if (missing.rights.length === 0) return [ok('permissions', `${who} has its ${wanted.length} rights`)]
  return [
    ...missing.byNamespace.map(([place, rights]) =>
      failure(
        'permissions',
        `${who} may not ${describeRights(rights)}${place === '' ? '' : ` in ${place}`}`,
        'install the chart with rbac.create=true, or bind the rights in install/charts/gatewright/files/rights.yaml',
      ),
    ),
  ]
}

interface Wanted {
  readonly right: Right
  /** Empty: in all, or of objects without namespace. */
  readonly namespace: string
}

type Missing =
  | { readonly rights: readonly Right[]; readonly byNamespace: readonly (readonly [string, readonly Right[]])[] }
  | { readonly why: string }

async function missingRights(reader: ClusterReader, account: Account, wanted: readonly Wanted[]): Promise<Missing> {
  const answers = await Promise.all(wanted.map((each) => isAllowed(reader, account, each)))
  for (const answer of answers) if (typeof answer !== 'boolean') return answer
  const missing = wanted.filter((_, index) => answers[index] === false)
  const byNamespace = Map.groupBy(missing, ({ namespace }) => namespace)
  return {
    rights: missing.map(({ right }) => right),
    byNamespace: [...byNamespace]
      .sort(([a], [b]) => compareText(a, b))
      .map(([namespace, each]) => [namespace, each.map(({ right }) => right)] as const),
  }
}

async function isAllowed(
  reader: ClusterReader,
  account: Account,
  { right, namespace }: Wanted,
): Promise<boolean | { readonly why: string }> {
  const [resource, subresource] = right.resource.split('/')
  const attributes = {
    ...{ group: right.group, resource, verb: right.verb, namespace },
    ...(subresource !== undefined && { subresource }),
    ...(right.name !== undefined && { name: right.name }),
  }
  const kind = account === undefined ? 'SelfSubjectAccessReview' : 'SubjectAccessReview'
  const spec = { resourceAttributes: attributes, ...(account && subject(account)) }
  const path = `${REVIEWS}/${kind.toLowerCase()}s`
  const answer = await reader.ask(path, { apiVersion: API_VERSION, kind, spec })
  if ('why' in answer) return answer
  if (answer.value.status === 404) return { why: `the API does not serve ${path}` }
  return membersOf(answer.value.body.status).allowed === true
}

function subject({ namespace, name }: NonNullable<Account>): object {
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated']
  return { user: `system:serviceaccount:${namespace}:${name}`, groups }
}

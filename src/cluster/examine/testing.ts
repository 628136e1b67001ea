import { readFileSync } from 'node:fs'
import { customResourceDefinition } from '#api/definitions/custom-resource-definition.ts'
import { GATEWAY_GROUP } from '#api/groups.ts'
import { KINDS, type KindInfo } from '#api/kinds.ts'
import { answerJson } from '#test/support/json-server.ts'
import { startFakeApi } from '../testing.ts'

/** An object of a list of the fake. */
export type ListedObject = { metadata: { name: string; namespace?: string } } & Readonly<Record<string, unknown>>

/** The lists of a cluster, by path. */
export type Lists = Record<string, ListedObject[]>

export const SYSTEM = 'gatewright-system'
export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const RIGHTS = readFileSync(
  new URL('../../../install/charts/gatewright/files/rights.yaml', import.meta.url),
  'utf8',
)

/** The definitions of the chart, and those of the Gateway API, as an API server has them. */
export function storedDefinitions(): ListedObject[] {
  return KINDS.filter(({ own, group }) => own || group === GATEWAY_GROUP).map((info) => ({
    ...(info.own ? stored(customResourceDefinition(info)) : gatewayDefinition(info)),
    status: {
      storedVersions: [info.versions[0]],
      conditions: ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' })),
    },
  }))
}

/** An API server drops `properties` without any. */
function stored(definition: object): ListedObject {
  return JSON.parse(
    JSON.stringify(definition)
      .replaceAll(/"properties":\{\},?/g, '')
      .replaceAll(',}', '}'),
  )
}

function gatewayDefinition({ plural, group, versions }: KindInfo): ListedObject {
  const annotations = { 'gateway.networking.k8s.io/bundle-version': 'v1.7.0' }
  const spec = { versions: versions.map((name, index) => ({ name, served: true, storage: index === 0 })) }
  return { metadata: { name: `${plural}.${group}`, annotations } as ListedObject['metadata'], spec }
}

/** Answers of `/version` and of reviews. @param isDenied whether a right is denied, by `verb group/resource` */
export function answerQuestions(
  api: Awaited<ReturnType<typeof startFakeApi>>,
  isDenied: (right: string, user: string) => boolean = () => false,
): void {
  api.special = ({ path, body }, response) => {
    if (path === '/version') answerJson(response, { gitVersion: 'v1.37.2' })
    if (!path.startsWith('/apis/authorization.k8s.io/v1/')) return
    const { spec } = body as { spec: { user?: string; resourceAttributes: Readonly<Record<string, string>> } }
    const { verb, group, resource, subresource } = spec.resourceAttributes
    const right = `${verb} ${group}/${resource}${subresource === undefined ? '' : `/${subresource}`}`
    answerJson(response, { status: { allowed: !isDenied(right, spec.user ?? '') } }, 201)
  }
}

/** A cluster with these lists and the definitions, which allows everything. */
export async function startFakeCluster(lists: Lists = {}) {
  const api = await startFakeApi({
    [DEFINITIONS]: storedDefinitions(),
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations': [],
    '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations': [],
    '/apis/apps/v1/deployments': [],
    ...lists,
  })
  answerQuestions(api)
  return api
}

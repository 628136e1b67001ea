import { parse } from 'yaml'
import { itemsOf, membersOf } from '../kubeconfig.ts'
import type { FoundController } from './find-controllers.ts'

/** One thing that an account may do. */
export interface Right {
  readonly group: string
  /** `httproutes`, `httproutes/status` */
  readonly resource: string
  readonly verb: string
  /** Of the only object. */
  readonly name?: string
}

/** Where a controller needs rights: everywhere, where it reads, where it runs proxies, and in its own namespace. */
export type RightsOfController = Readonly<Record<'cluster' | 'read' | 'write' | 'own', readonly Right[]>>

/** The templates of the chart for the names of the controller and of the Secret with its certificate. */
const CONTROLLER = '{{ include "gatewright.controller" . }}'
const SECRET = '{{ include "gatewright.secret" . }}'

/** @param text `install/charts/gatewright/files/rights.yaml` */
export function controllerRights(
  text: string,
  { name, secret }: Pick<FoundController, 'name' | 'secret'>,
): RightsOfController {
  const rules = membersOf(parse(text.replaceAll(CONTROLLER, name).replaceAll(SECRET, secret)))
  const of = (place: keyof RightsOfController) => itemsOf(rules[place]).map(membersOf).flatMap(rightsOfRule)
  return { cluster: of('cluster'), read: of('read'), write: of('write'), own: of('own') }
}

function rightsOfRule({
  apiGroups,
  resources,
  resourceNames,
  verbs,
}: Readonly<Record<string, unknown>>): readonly Right[] {
  const names = resourceNames === undefined ? [undefined] : textsOf(resourceNames)
  return textsOf(apiGroups).flatMap((group) =>
    textsOf(resources).flatMap((resource) =>
      textsOf(verbs).flatMap((verb) =>
        names.map((name) => ({ group, resource, verb, ...(name !== undefined && { name }) })),
      ),
    ),
  )
}

function textsOf(list: unknown): readonly string[] {
  return itemsOf(list).map(String)
}

/** Rights of the same resource together, for people: `get and list secrets`. */
export function describeRights(rights: readonly Right[]): string {
  const byObject = Map.groupBy(rights, ({ group, resource, name }) => {
    const kind = group === '' ? resource : `${resource}.${group}`
    return name === undefined ? kind : `${kind}/${name}`
  })
  return [...byObject].map(([object, each]) => `${each.map(({ verb }) => verb).join(', ')} ${object}`).join('; ')
}

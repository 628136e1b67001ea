import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { ApiUnreadable } from './api-unreadable.ts'

/** The parts of a kubeconfig that one context selects, with the names of Kubernetes (v1.Config). */
export interface KubeContext {
  readonly cluster: Members
  readonly user: Members
  /** For messages. */
  readonly userName: string
  /** That commands use unless they name another one. */
  readonly namespace?: string | undefined
  /** Relative paths in the file begin here. */
  readonly folder: string
}

export type Members = Readonly<Record<string, unknown>>

/**
 * Reads the cluster and the user of a context.
 * @param context default: the current one
 * @throws ApiUnreadable
 */
export function readKubeconfig(file: string, context?: string): KubeContext {
  const config = membersOf(readYaml(file))
  const name = context ?? textOf(config['current-context'])
  if (name === undefined || name === '')
    throw new ApiUnreadable(`${file} has no current-context; name one with --context`)
  const selected = named(config, { file, list: 'contexts', name, member: 'context' })
  const nameIn = (member: string) => textOf(selected[member]) ?? ''
  const user = nameIn('user')
  return {
    cluster: named(config, { file, list: 'clusters', name: nameIn('cluster'), member: 'cluster' }),
    // A user without credentials may be left out.
    user: user === '' ? {} : named(config, { file, list: 'users', name: user, member: 'user' }),
    namespace: textOf(selected.namespace),
    userName: `user "${user}" of ${file}`,
    folder: dirname(resolve(file)),
  }
}

/** The text of a member; undefined if it is missing. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
}

export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Base64 data, or the content of the file that another member names; undefined if neither is set. */
export function dataOrFile(members: Members, name: string, folder: string): string | undefined {
  const data = textOf(members[`${name}-data`])
  if (data !== undefined) return Buffer.from(data, 'base64').toString()
  const file = textOf(members[name])
  return file === undefined ? undefined : readText(resolve(folder, file))
}

/** @throws ApiUnreadable */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ApiUnreadable(`${file} cannot be read: ${(error as Error).message}`)
  }
}

/** A parser quotes the line of an error, and it may have a credential: only its position is shown. */
function readYaml(file: string): unknown {
  const text = readText(file)
  try {
    return parse(text)
  } catch (error) {
    const [at] = (error as { linePos?: readonly { readonly line: number }[] }).linePos ?? []
    throw new ApiUnreadable(`${file}${at === undefined ? '' : `:${at.line}`} is not valid YAML`)
  }
}

interface Wanted {
  readonly file: string
  readonly list: 'contexts' | 'clusters' | 'users'
  readonly name: string
  readonly member: string
}

function named(config: Members, { file, list, name, member }: Wanted): Members {
  const entries = itemsOf(config[list]).map(membersOf)
  const found = entries.find((entry) => entry.name === name)
  if (found !== undefined) return membersOf(found[member])
  const names = entries.flatMap((entry) => textOf(entry.name) ?? []).join(', ')
  throw new ApiUnreadable(`${file} has no ${member} "${name}"; ${names === '' ? 'it has none' : `it has ${names}`}`)
}

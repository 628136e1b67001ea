import type { Handler } from './idp-request.ts'

interface Route {
  readonly method: string
  /** `:name` matches one part of a path. */
  readonly parts: readonly string[]
  readonly handler: Handler
}

/** A route that a request has, or why it has none. */
export type Found =
  | { readonly handler: Handler; readonly params: Readonly<Record<string, string>> }
  | { readonly allow: readonly string[] }

/** Handlers by method and path: `GET /realms/:realm/account`. */
export class RouteTable {
  readonly #routes: readonly Route[]

  constructor(routes: Readonly<Record<string, Handler>>) {
    this.#routes = Object.entries(routes).map(([text, handler]) => {
      const [method = '', path = ''] = text.split(' ')
      return { method, parts: path.split('/').slice(1), handler }
    })
  }

  /** @param path still percent-encoded @returns `allow`: the methods that the path has */
  find(method: string, path: string): Found {
    const parts = decoded(path)
    const matching = parts === undefined ? [] : this.#routes.filter((route) => matches(route, parts))
    const route = matching.find((one) => one.method === method)
    if (route === undefined) return { allow: matching.map((one) => one.method) }
    const named = route.parts.flatMap((part, at) => (part.startsWith(':') ? [[part.slice(1), parts![at]!]] : []))
    return { handler: route.handler, params: Object.fromEntries(named) }
  }
}

function matches({ parts }: Route, path: readonly string[]): boolean {
  return parts.length === path.length && parts.every((part, at) => part.startsWith(':') || part === path[at])
}

function decoded(path: string): readonly string[] | undefined {
  try {
    return path.split('/').slice(1).map(decodeURIComponent)
  } catch {
    return undefined
  }
}

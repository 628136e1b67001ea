import { posix } from 'node:path'
import { findCycles, type Graph, reachable } from './cycles.ts'
import {
  BROWSER_EXCEPTIONS,
  BROWSER_ROOMS,
  EMPTY_NAMES,
  type Exception,
  INNER_LEVELS,
  LEVELS,
  LONG_TABLES,
  MAX_LINES,
  NODE_EXCEPTIONS,
  NODE_ROOMS,
  OUTPUT_FILE,
  PARSER_EXCEPTIONS,
  PARSER_FILE,
  PROTOCOL_TABLE,
  RESERVED_FOLDERS,
  ROOM_EXCEPTIONS,
  SCHEMA_ROOMS,
  SEAL_EXCEPTIONS,
  SEALED_FOLDERS,
} from './rules.ts'
import { roomOf, type SourceFile } from './source-tree.ts'

/** Each rule takes the files of `src/` and gives one line for each violation, beginning with the place. */
export type Rule = (files: readonly SourceFile[]) => string[]

export const unknownRooms: Rule = (files) =>
  [...new Set(files.map(({ room }) => room))].filter((room) => levelOf(room) < 0)

export const upwardImports: Rule = (files) =>
  eachImport(files, ({ path, room }, to) => {
    const target = roomOf(to)
    if (target === room || levelOf(target) < levelOf(room) || isExcepted(ROOM_EXCEPTIONS, path, to)) return undefined
    return `imports ${to}: ${target} is not below ${room}`
  })

export const unknownParts: Rule = (files) =>
  Object.entries(INNER_LEVELS).flatMap(([room, levels]) =>
    [...partsOf(room, files)]
      .filter((part) => !levels.flat().includes(part))
      .map((part) => `${room}/${part} has no level`),
  )

export const absentParts: Rule = (files) =>
  Object.entries(INNER_LEVELS).flatMap(([room, levels]) => {
    const parts = partsOf(room, files)
    return levels
      .flat()
      .filter((part) => !parts.has(part))
      .map((part) => `there is no ${room}/${part}`)
  })

/** Two parts that import each other, and longer cycles of parts, violate this rule, too. */
export const upwardPartImports: Rule = (files) =>
  Object.entries(INNER_LEVELS).flatMap(([room, levels]) => {
    const levelOfPart = (part: string) => levels.findIndex((parts) => parts.includes(part))
    return eachImport(
      files.filter(({ forTests }) => !forTests),
      ({ path }, to) => {
        const from = partOf(room, path)
        const target = partOf(room, to)
        if (from === undefined || target === undefined || from === target) return undefined
        return levelOfPart(target) < levelOfPart(from) ? undefined : `imports ${to}: ${target} is not below ${from}`
      },
    )
  })

/** Files of other rooms are named by their room. */
export const roomNames: Rule = (files) =>
  files.flatMap(({ path, room, imports }) =>
    imports.flatMap(({ specifier, line }) => {
      const to = posix.join(posix.dirname(path), specifier)
      if (!specifier.startsWith('..') || to.startsWith('..') || roomOf(to) === room) return []
      return `${path}:${line} imports ${specifier}: its name is #${to}`
    }),
  )

export const cycles: Rule = (files) => findCycles(graphOf(files)).map((group) => group.join(' <-> '))

export const sealedFolders: Rule = (files) =>
  eachImport(files, ({ path }, to) => {
    for (const { folder, depth, open } of SEALED_FOLDERS) {
      const from = childOf(folder, depth, path)
      const target = childOf(folder, depth, to)
      if (from === undefined || target === undefined || from === target) continue
      if (isInside(to, open) || isExcepted(SEAL_EXCEPTIONS, path, to)) continue
      return `imports ${to}: the children of ${folder} know nothing of each other`
    }
    return undefined
  })

export const reservedFolders: Rule = (files) =>
  eachImport(
    files.filter(({ forTests }) => !forTests),
    ({ path }, to) => {
      const reserved = RESERVED_FOLDERS.find(({ folder }) => isInside(to, folder) && !isInside(path, folder))
      if (reserved === undefined || path === reserved.user) return undefined
      return `imports ${to}: only ${reserved.user} does`
    },
  )

/** The engine and the proxy know protocols by their interface only. */
export const protocolImports: Rule = (files) =>
  eachImport(
    files.filter(({ path, forTests }) => path !== PROTOCOL_TABLE && !forTests),
    ({ path }, to) => {
      const target = childOf('protocols', 1, to)
      if (target === undefined || isInside(to, 'protocols/http') || childOf('protocols', 1, path) === target)
        return undefined
      return `imports ${to}: only ${PROTOCOL_TABLE} knows protocols by name`
    },
  )

export const schemaImports: Rule = (files) => {
  const graph = graphOf(files)
  return files
    .filter(
      ({ path, forTests }) =>
        (isInside(path, 'policies') || isInside(path, 'protocols')) && path.endsWith('schema.ts') && !forTests,
    )
    .flatMap(({ path }) =>
      [...reachable(graph, [path])]
        .filter((to) => !SCHEMA_ROOMS.includes(roomOf(to)))
        .map((to) => `${path} depends on ${to}`),
    )
}

export const nodeModules: Rule = (files) =>
  files
    .filter(({ room, forTests }) => !forTests && !NODE_ROOMS.includes(room))
    .flatMap((file) =>
      nodeImports(file)
        .filter(({ specifier }) => !isExcepted(NODE_EXCEPTIONS, file.path, specifier))
        .map(({ line, specifier }) => `${file.path}:${line} imports ${specifier}`),
    )

export const browserCode: Rule = (files) => {
  const excepted = new Set(BROWSER_EXCEPTIONS.map(({ file }) => file))
  const starts = files.filter(({ room, forTests }) => BROWSER_ROOMS.includes(room) && !forTests)
  const needed = reachable(
    graphOf(files, (typeOnly) => !typeOnly),
    starts.map(({ path }) => path),
  )
  return files
    .filter(({ path }) => needed.has(path))
    .flatMap((file) => [
      ...nodeImports(file).map(({ line, specifier }) => `${file.path}:${line} imports ${specifier}`),
      ...['Buffer', 'process'].flatMap((name) => {
        const line = excepted.has(file.path) ? undefined : file.objects.get(name)
        return line === undefined ? [] : [`${file.path}:${line} uses ${name}`]
      }),
    ])
}

export const looseOutput: Rule = (files) =>
  files
    .filter(({ path, forTests }) => !forTests && path !== OUTPUT_FILE)
    .flatMap(({ path, objects }) =>
      ['console', 'process.stdout', 'process.stderr'].flatMap((name) => {
        const line = objects.get(name)
        return line === undefined ? [] : [`${path}:${line} uses ${name}`]
      }),
    )

export const looseParsing: Rule = (files) =>
  callsOfParse(files)
    .filter(({ path }) => path !== PARSER_FILE && !PARSER_EXCEPTIONS.some(({ file }) => file === path))
    .map(({ path, line }) => `${path}:${line} uses JSON.parse`)

function callsOfParse(files: readonly SourceFile[]): { path: string; line: number }[] {
  return files
    .filter(({ forTests }) => !forTests)
    .flatMap(({ path, objects }) => {
      const line = objects.get('JSON.parse')
      return line === undefined ? [] : [{ path, line }]
    })
}

export const testSupport: Rule = (files) => {
  const support = new Set(files.filter(({ forTests }) => forTests).map(({ path }) => path))
  return eachImport(files, (file, to) =>
    !file.forTests && support.has(to) ? `imports ${to}, which is for tests` : undefined,
  )
}

export const packages =
  (allowed: ReadonlySet<string>): Rule =>
  (files) =>
    files
      .filter(({ forTests }) => !forTests)
      .flatMap(({ path, imports }) =>
        imports
          .filter(({ specifier, typeOnly }) => !typeOnly && /^[^.#]/.test(specifier) && !specifier.startsWith('node:'))
          .filter(({ specifier }) => !allowed.has(packageOf(specifier)))
          .map(({ specifier, line }) => `${path}:${line} imports ${specifier}, which is no run-time dependency`),
      )

export const fileNames: Rule = (files) =>
  files.flatMap(({ path }) =>
    path.split('/').flatMap((piece) => {
      const name = piece.replace(/(?:\.test|\.d)?\.ts$/, '')
      if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) return [`${path}: "${piece}" is not kebab-case`]
      const empty = name.split('-').find((word) => EMPTY_NAMES.includes(word))
      return empty === undefined ? [] : [`${path}: "${empty}" says nothing`]
    }),
  )

export const longFiles: Rule = (files) =>
  files
    .filter(({ path, lines, forTests }) => lines > MAX_LINES && !forTests && !LONG_TABLES.includes(path))
    .map(({ path, lines }) => `${path} has ${lines} lines`)

export const exportForms: Rule = (files) =>
  files.flatMap(({ path, defaultExports, starExports }) => [
    ...defaultExports.map((line) => `${path}:${line} exports a default`),
    ...starExports.map((line) => `${path}:${line} exports *`),
  ])

/** An exception that permits nothing is wrong about the code. */
export const idleExceptions: Rule = (files) => {
  const imports = files.flatMap(({ path, edges, imports }) =>
    [...edges.map(({ to }) => to), ...imports.map(({ specifier }) => specifier)].map((to) => ({ path, to })),
  )
  const paths = new Set(files.map(({ path }) => path))
  return [
    ...[...ROOM_EXCEPTIONS, ...SEAL_EXCEPTIONS, ...NODE_EXCEPTIONS]
      .filter((exception) => !imports.some(({ path, to }) => isExcepted([exception], path, to)))
      .map(({ from, to }) => `${from} does not import ${to}`),
    ...[...LONG_TABLES, ...BROWSER_EXCEPTIONS.map(({ file }) => file)]
      .filter((path) => !paths.has(path))
      .map((path) => `there is no ${path}`),
    ...PARSER_EXCEPTIONS.map(({ file }) => file)
      .filter((file) => !callsOfParse(files).some(({ path }) => path === file))
      .map((file) => `${file} does not use JSON.parse`),
  ]
}

function levelOf(room: string): number {
  return LEVELS.findIndex((rooms) => rooms.includes(room))
}

function eachImport(
  files: readonly SourceFile[],
  check: (file: SourceFile, to: string) => string | undefined,
): string[] {
  return files.flatMap((file) =>
    file.edges.flatMap(({ to, line }) => {
      const message = check(file, to)
      return message === undefined ? [] : [`${file.path}:${line} ${message}`]
    }),
  )
}

function graphOf(files: readonly SourceFile[], takes: (typeOnly: boolean) => boolean = () => true): Graph {
  return new Map(
    files.map(({ path, edges }) => [path, edges.filter(({ typeOnly }) => takes(typeOnly)).map(({ to }) => to)]),
  )
}

function nodeImports({ imports }: SourceFile) {
  return imports.filter(({ specifier, typeOnly }) => specifier.startsWith('node:') && !typeOnly)
}

function isExcepted(exceptions: readonly Exception[], from: string, to: string): boolean {
  return exceptions.some((exception) => isInside(from, exception.from) && isInside(to, exception.to))
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

function partsOf(room: string, files: readonly SourceFile[]): ReadonlySet<string> {
  return new Set(files.filter(({ forTests }) => !forTests).flatMap(({ path }) => partOf(room, path) ?? []))
}

/** `http1` of `net/http1/framer.ts`, `stream.ts` of `net/stream.ts`; undefined for files of other rooms. */
function partOf(room: string, path: string): string | undefined {
  return path.startsWith(`${room}/`) ? path.slice(room.length + 1).split('/')[0] : undefined
}

/** `policies/traffic/cors` of `policies/traffic/cors/run.ts`; undefined for files above the children. */
function childOf(folder: string, depth: number, path: string): string | undefined {
  if (!isInside(path, folder)) return undefined
  const pieces = posix.dirname(path).split('/')
  const length = folder.split('/').length + depth
  if (isInside(path, `${folder}/shared`)) return `${folder}/shared`
  if (pieces.length < length) return undefined
  return pieces.slice(0, length).join('/')
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

import { delimiter, join } from 'node:path'
import {
  builtGoProgram,
  builtRustProgram,
  compiledJava,
  installedJars,
  installedProgram,
  installedPythonPackages,
} from '../../counterparts.ts'
import { type LoadSdk, type PairClient, type PairProgram, type PairServer, runProgram, startProgram } from './pair.ts'

const BOTH: PairServer['paths'] = { http: '/mcp', sse: '/sse' }

export const loadPython: LoadSdk = (stops) => {
  const program = installedPythonPackages('mcp-python-2.3.0', 'mcp==2.3.0', 'uvicorn==0.54.0')
  const words = [join(import.meta.dirname, 'python', 'pair.py')]
  return load('python', { program, options: { words } }, ['legacy', 'auto', 'sse'], BOTH, stops)
}

export const loadGo: LoadSdk = (stops) => {
  const program = builtGoProgram(join(import.meta.dirname, 'go'), 'mcp-pair')
  return load('go', { program, options: {} }, ['legacy', 'auto', 'sse'], BOTH, stops)
}

export const loadRust: LoadSdk = (stops) => {
  const program = builtRustProgram(join(import.meta.dirname, 'rust'), 'mcp-pair')
  return load('rust', { program, options: {} }, ['legacy', 'auto'], { http: '/mcp' }, stops)
}

export const loadJava: LoadSdk = (stops) => {
  const folder = join(import.meta.dirname, 'java')
  const jars = installedJars('mcp-java-2.1.0', join(folder, 'pom.xml'))
  const classes = compiledJava('mcp-java-classes', jars, join(folder, 'Pair.java'))
  const words = ['-cp', `${classes}${delimiter}${jars}`, 'Pair']
  return load(
    'java',
    { program: installedProgram('java', 'default-jdk'), options: { words } },
    ['legacy', 'sse'],
    BOTH,
    stops,
  )
}

/** Starts the program as a server; each mode is a client. */
async function load(
  name: string,
  program: PairProgram,
  modes: readonly string[],
  paths: PairServer['paths'],
  stops: AsyncDisposableStack,
): ReturnType<LoadSdk> {
  const clients = modes.map(
    (mode): PairClient => ({
      name: `${name} ${mode}`,
      wire: mode === 'sse' ? 'sse' : 'http',
      run: (endpoint) => runProgram(program, mode, endpoint),
    }),
  )
  return { servers: [await startProgram(name, program, paths, stops)], clients }
}

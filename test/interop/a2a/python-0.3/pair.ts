import { join } from 'node:path'
import { installedPythonPackages } from '../../counterparts.ts'
import { loadProgram } from '../load-program.ts'
import { BINDINGS } from '../scenarios.ts'

/** The agent and the client made with the official SDK for Python, 0.3, which speaks no other version. */
export function loadPython03(stops: AsyncDisposableStack): ReturnType<typeof loadProgram> {
  const packages = ['a2a-sdk[http-server,grpc]==0.3.26', 'uvicorn==0.54.0']
  const program = installedPythonPackages('a2a-python-0.3.26', ...packages)
  const words = [join(import.meta.dirname, 'pair.py')]
  const interfaces = BINDINGS.map((binding) => `${binding}-0.3`)
  return loadProgram({ name: 'python-0.3', program, words, interfaces }, stops)
}

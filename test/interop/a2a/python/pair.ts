import { join } from 'node:path'
import { installedPythonPackages } from '../../counterparts.ts'
import { loadProgram } from '../load-program.ts'
import { ALL_INTERFACES } from '../scenarios.ts'

/** The agent and the client made with the official SDK for Python, 1.x, which also speaks 0.3. */
export function loadPython(stops: AsyncDisposableStack): ReturnType<typeof loadProgram> {
  const program = installedPythonPackages('a2a-python-1.3.0', 'a2a-sdk[all]==1.3.0', 'uvicorn==0.54.0')
  const words = [join(import.meta.dirname, 'pair.py')]
  return loadProgram({ name: 'python', program, words, interfaces: ALL_INTERFACES }, stops)
}

import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { installedNpmPackages } from '../../counterparts.ts'
import { loadProgram } from '../load-program.ts'
import { ALL_INTERFACES } from '../scenarios.ts'

/** The agent and the client made with the official SDK for TypeScript, 0.3. */
export function loadTypescript03(stops: AsyncDisposableStack): ReturnType<typeof loadProgram> {
  const packages = ['@a2a-js/sdk@0.3.14', 'express@5.1.0', '@grpc/grpc-js@1.14.1', '@bufbuild/protobuf@2.10.2']
  const folder = installedNpmPackages('a2a-typescript-0.3.14', ...packages)
  // Its imports are those of the folder.
  const program = join(folder, 'pair.mjs')
  copyFileSync(join(import.meta.dirname, 'pair.mjs'), program)
  const interfaces = ALL_INTERFACES.filter((one) => one.endsWith('-0.3'))
  return loadProgram({ name: 'typescript 0.3', program: process.execPath, words: [program], interfaces }, stops)
}

import { StateFolder } from '#instance/state-folder.ts'
import type { LogMessage } from '#observe/log/application-log.ts'
import { DATABASE_FILE } from '#store/database/open-database.ts'
import { SqliteJournal } from '#store/database/sqlite-journal.ts'
import type { FileStore } from '#store/files.ts'
import type { JournalFailure } from '#store/resources/journal-failure.ts'
import { ResourceTable } from '#store/resources/resource-table.ts'
import { ServedStore } from '#store/served-store.ts'
import type { ObjectStore } from '#store/store.ts'
import { STATE_FOLDER } from './state-path.ts'

/** Where a gateway keeps what outlives its process, and the objects that it works on. */
export interface OpenedStore {
  readonly state: StateFolder
  /** Closes the files, too. */
  readonly store: ObjectStore
  /** Undefined: the state folder cannot be used. */
  readonly journal?: SqliteJournal
}

/**
 * Opens the state folder. The objects of its database are in force besides those of files, whether the API is served or not. An open database also keeps a
 * second gateway out, which would overwrite the state of this one.
 * @param folder that the user named
 * @throws StateFolderUnusable, DatabaseUnusable
 */
export function openStore(files: FileStore, folder: string | undefined, message: LogMessage): OpenedStore {
  const state = new StateFolder(folder ?? STATE_FOLDER, folder !== undefined, (...line) => message('store', ...line))
  if (!state.isUsable) return { state, store: files }
  const report = (problem: JournalFailure) =>
    message('store', 'error', 'a change could not be stored', { cause: problem.message })
  const { journal, content } = SqliteJournal.open(state.pathOf(DATABASE_FILE), report)
  return { state, store: new ServedStore(files, new ResourceTable(journal, content), report), journal }
}

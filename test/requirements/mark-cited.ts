/** A manifest file with its entries marked anew, and the ids whose mark changed. */
export interface Marked {
  readonly source: string
  readonly proved: readonly string[]
  readonly gaps: readonly string[]
}

const ENTRY = /^( {2}'([^']+)': )(gap|requirement)\(/gm
const IMPORT = /^import \{.*\} from '\.\/requirement\.ts'$/m

/**
 * Makes every cited entry of a manifest source a `requirement` and every other one a `gap`. Changed entries keep their line breaks, so the
 * result wants formatting.
 */
export function markCited(source: string, cited: ReadonlySet<string>): Marked {
  const proved: string[] = []
  const gaps: string[] = []
  const entries = source.replace(ENTRY, (whole, head: string, id: string, mark: string) => {
    const wanted = cited.has(id) ? 'requirement' : 'gap'
    if (wanted === mark) return whole
    if (wanted === 'gap') gaps.push(id)
    else proved.push(id)
    return `${head}${wanted}(`
  })
  const isUsed = (name: string) => name === 'type Requirement' || entries.includes(`': ${name}(`)
  const names = ['gap', 'type Requirement', 'requirement'].filter(isUsed).join(', ')
  return { source: entries.replace(IMPORT, `import { ${names} } from './requirement.ts'`), proved, gaps }
}

import fc from 'fast-check'

const SURROGATES = { first: 0xd800, count: 0x800 }
const LAST = 0x10_ffff

/**
 * Any character but surrogates, with the values of the unit `binary` of fast-check. That unit keeps a table of all characters in memory, which takes
 * a second of processor time to fill.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat({ max: LAST - SURROGATES.count })
  .map(characterAt, (character) => {
    if (typeof character === 'string' && character !== '') {
      const number = numberOf(character)
      if (characterAt(number) === character) return number
    }
    throw new Error('not one character')
  })

function characterAt(number: number): string {
  return String.fromCodePoint(number < SURROGATES.first ? number : number + SURROGATES.count)
}

function numberOf(character: string): number {
  const point = character.codePointAt(0)!
  return point < SURROGATES.first ? point : point - SURROGATES.count
}

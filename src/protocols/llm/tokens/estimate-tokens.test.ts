import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { estimateTokens } from './estimate-tokens.ts'

/** Counts of current vocabularies differ; the estimate must lie between these bounds. */
test.each<[text: string, least: number, most: number]>([
  ['', 0, 0],
  ['Hello', 1, 1],
  ['Hello, world!', 3, 5],
  ['The quick brown fox jumps over the lazy dog.', 9, 12],
  ['internationalization', 2, 5],
  ['1234567890', 3, 5],
  ['{"name":"get_weather","arguments":{"city":"Paris"}}', 12, 24],
  ['for (let i = 0; i < 10; i++) {\n  total += values[i]\n}\n', 20, 34],
  ['Größe und Übermut kommen vor dem Fall.', 8, 14],
  ['Быстрая коричневая лиса прыгает через ленивую собаку.', 12, 26],
  ['敏捷的棕色狐狸跳过了懒狗。', 9, 20],
  ['👍👍', 2, 8],
  [' '.repeat(80), 1, 12],
])('%j', (text, least, most) => {
  expect(estimateTokens(text)).toBeGreaterThanOrEqual(least)
  expect(estimateTokens(text)).toBeLessThanOrEqual(most)
})

test('a run without a space counts at most as 1,000 characters', () => {
  const run = 'Ab3+'.repeat(250_000)
  expect(estimateTokens(run.slice(0, 100_000))).toBeLessThan(1001)
  expect(estimateTokens('a'.repeat(100_000))).toBe(556)
})

test('of a long text, a part is read, and the whole is counted', () => {
  const text = 'The quick brown fox jumps over the lazy dog. '
  const one = estimateTokens(text)
  expect(estimateTokens(text.repeat(100_000)) / (one * 100_000)).toBeCloseTo(1, 1)
})

test('a text of 200,000 characters is read as a whole, and of a longer one twenty parts from its beginning to its end', () => {
  const blank = (length: number) => ' '.repeat(length)
  expect(estimateTokens(blank(200_000))).toBe(125)
  expect(estimateTokens(blank(200_001))).toBe(2501)
  expect(estimateTokens('中'.repeat(400_000))).toBe(400_000)
  const words = 'a '.repeat(5000)
  for (const part of [0, 1, 9, 18, 19]) {
    const start = Math.floor((part * 390_000) / 19)
    // Half of the text is read. Each of its twenty parts has 125 tokens, and this one has 5,000.
    const text = blank(start) + words + blank(400_000 - start - words.length)
    expect([part, estimateTokens(text)]).toEqual([part, 2 * (19 * 125 + 5000)])
  }
})

test.each([
  ['a', 1],
  ['a'.repeat(30), 6],
  [` ${'a'.repeat(30)}`, 6],
  [`中${'a'.repeat(30)}`, 7],
  // No name is so long: it is data.
  ['a'.repeat(31), 18],
])('%s has %i tokens', (text, tokens) => expect(estimateTokens(text)).toBe(tokens))

const CHINESE = '人工智能的发展改变了我们的生活方式。随着技术的进步，越来越多的企业开始使用大型语言模型来提高工作效率。'
/** Hex digits of a square root: they look random. */
const HEX = '6a09e667f3bcc908b2fb1366ea957d3e3adec17512775099da2f590b0667322a'
const BASE64 = Buffer.from(HEX.repeat(2), 'hex').toString('base64')

test.each<[what: string, text: string]>([
  [
    'English',
    'She walked down the street, thinking about the letter that had arrived that morning; nobody had expected it.',
  ],
  ['German', 'Die Donaudampfschifffahrtsgesellschaft beschäftigt viele Kapitäne in Österreich und Ungarn.'],
  ['Polish', 'Sztuczna inteligencja zmieniła nasze życie i sposób, w jaki pracujemy każdego dnia.'],
  ['Turkish', 'Yapay zekâ hayatımızı ve çalışma biçimimizi büyük ölçüde değiştirdi.'],
  ['Vietnamese', 'Trí tuệ nhân tạo đã thay đổi cuộc sống của chúng ta. Hà Nội là thủ đô của Việt Nam.'],
  ['Russian', 'Искусственный интеллект изменил нашу жизнь. Москва является столицей Российской Федерации.'],
  ['Arabic', 'لقد غير الذكاء الاصطناعي حياتنا. القاهرة هي عاصمة جمهورية مصر العربية.'],
  ['Hindi', 'कृत्रिम बुद्धिमत्ता ने हमारे जीवन को बदल दिया है। दिल्ली भारत की राजधानी है।'],
  ['Thai', 'ปัญญาประดิษฐ์ได้เปลี่ยนแปลงชีวิตของเรา กรุงเทพเป็นเมืองหลวงของประเทศไทย'],
  ['Lao', 'ປັນຍາປະດິດໄດ້ປ່ຽນແປງຊີວິດຂອງພວກເຮົາ.'],
  ['Amharic', 'ሰው ሰራሽ የማሰብ ችሎታ ሕይወታችንን ቀይሯል።'],
  ['Chinese', CHINESE],
  ['a run of Chinese', CHINESE.repeat(100)],
  ['a run of Chinese without signs', CHINESE.replaceAll(/[。，]/g, '').repeat(100)],
  ['rare Chinese', '𠀀𠀁𠀂𠀃𡃁𡃂𢺳𣎴𤭢𥄫'],
  ['Japanese', '東京は日本の首都であり、世界最大の都市の一つです。カタカナのテスト、データベース。'],
  ['Korean', '인공지능의 발전은 우리의 생활 방식을 바꾸었습니다. 서울은 대한민국의 수도입니다.'],
  ['Chinese with English', '使用 Kubernetes 部署 API 网关时，需要配置 TLS 证书（certificate）以及 HTTP/2 支持。'],
  ['emoji', '👍🎉😀😂🤣🙏😭🔥✨💯🚀'],
  ['new emoji', '🫨🩷🪿🫎🪼🪭🪮🪯🛜'],
  ['emoji of several parts', '👨‍👩‍👧‍👦👩🏽‍💻🏳️‍🌈🧑🏿‍🚀👩‍❤️‍💋‍👨🇩🇪🇯🇵'],
  ['code', 'export function weigh(text: string): number {\n  return text.length > MAX_READ ? 0 : sum(text)\n}\n'],
  ['JSON', '{"type":"function","function":{"name":"get_weather","parameters":{"city":"Paris","days":[1,22,333]}}}'],
  ['CSV', '437.52,12.90,8841.07\n15.33,902.18,77.40\n'],
  ['numbers', '123456789 987654321 555123987'],
  ['base64', BASE64],
  ['lines of base64', BASE64.replaceAll(/(.{76})/g, '$1\n').repeat(20)],
  ['hex', HEX.repeat(4)],
  ['mathematics', '∀x∈ℝ: ∑ᵢ₌₁ⁿ xᵢ² ≥ 0 ⇒ ∫₀^∞ e^(−x²) dx = √π/2'],
])('%s: at least 85%% of what the newer vocabulary counts, and at most two and a half times it', (_, text) => {
  const ratio = estimateTokens(text) / countTokens(text)
  expect(ratio).toBeGreaterThanOrEqual(0.85)
  expect(ratio).toBeLessThanOrEqual(2.5)
})

test.each<[kind: string, characters: string, tokens: number]>([
  ['small letters', 'az', 2],
  ['capital letters', 'AZ', 4],
  ['digits', '09', 3],
  ['spaces', ' \n\r\t', 1],
  ['signs', '`{@[/:!~\u0000\u000b\u000c\u00a0\u00bf', 5],
  ['letters with marks', '\u00c0\u024f\u1e00\u1eff', 3],
  ['letters of other scripts', '\u0250\u0400', 4],
  ['rare characters', '\u1dff\u1f00', 20],
])('eight of the same %s have as many tokens, at both ends of their range', (_, characters, tokens) => {
  for (const character of characters)
    expect([character, estimateTokens(character.repeat(8))]).toEqual([character, tokens])
})

test.each<[text: string, tokens: number]>([
  // Words.
  ['aaaaaaa', 1],
  ['aaaaaaaa', 2],
  ['aB', 2],
  ['aBcD', 3],
  ['Aaaaaaa', 1],
  ['AB', 1],
  ['ABC', 2],
  ['ABc', 2],
  ['ABCDEF', 3],
  ['é', 1],
  ['éa', 1],
  ['éaa', 2],
  ['Éaa', 2],
  // A space belongs to the word after it.
  [' a', 1],
  ['a a', 2],
  ['a  a', 3],
  [' '.repeat(8), 1],
  [' '.repeat(9), 2],
  // But not to a number.
  ['123', 1],
  ['1234', 2],
  [' 123', 2],
  ['a123', 2],
  ['.1', 2],
  ['.', 1],
  ['..', 2],
  ['...', 2],
  ['.'.repeat(9), 5],
])('%j has %i tokens', (text, tokens) => expect(estimateTokens(text)).toBe(tokens))

test.each<[between: string, tokens: number]>([
  ['.', 9],
  [' ', 8],
  ['\n', 8],
  ['中', 9],
  ...[...'+/=-_'].map((sign): [string, number] => [sign, 17]),
  ['1', 17],
  ['A', 16],
])('of two words with %j between them, the second may be data', (between, tokens) => {
  expect(estimateTokens('a'.repeat(20) + between + 'a'.repeat(20))).toBe(tokens)
})

test.each<[what: string, text: string, tokens: number]>([
  ['1,000 letters', 'a'.repeat(1000), 556],
  ['1,001 letters', 'a'.repeat(1001), 556],
  // The space counts.
  ['letters behind a space', `${'a'.repeat(1000)} ${'a'.repeat(1000)}`, 1111],
  ['a word behind 999 digits', `${'1'.repeat(999)}ab`, 334],
  ['a word behind 1,000 digits', `${'1'.repeat(1000)}ab`, 334],
  ['a word behind 1,000 signs', `${'.'.repeat(1000)}ab`, 556],
  ['digits behind another script', `${'1'.repeat(1000)}中${'1'.repeat(3)}`, 336],
  ['1,000 digits behind another script', `中${'1'.repeat(1000)}`, 335],
  ['signs', '.'.repeat(2000), 556],
])('a run without a space counts as 1,000 characters: %s', (_, text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens)
})

test.each<[first: number, tokens: number]>([
  [0x0250, 8],
  [0x0300, 40],
  [0x0380, 8],
  [0x0e00, 10],
  [0x0e80, 40],
  [0x1000, 12],
  [0x1100, 50],
  [0x1780, 16],
  [0x1800, 50],
  [0x2000, 20],
  [0x2080, 32],
  [0x2500, 16],
  [0x2580, 30],
  [0x3000, 20],
  [0x3400, 50],
  [0x4e00, 20],
  [0xa000, 50],
  [0xac00, 20],
  [0xd800, 26],
  [0xd840, 48],
  [0xdc00, 26],
  [0xe000, 60],
  [0xf900, 40],
  [0xff00, 34],
])('twenty characters from %i on have %i tokens', (first, tokens) => {
  expect(estimateTokens(String.fromCharCode(first).repeat(20))).toBe(tokens)
  expect(estimateTokens(String.fromCharCode(first + 63).repeat(20))).toBe(tokens)
})

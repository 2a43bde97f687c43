import { HASH_WASM, INSIDE, NATIVE, ON_A_BUFFER, PLAIN, PLATFORMATIC } from './names.ts'
import type { Figure } from './results.ts'

/**
 * The picture of the README: CRC-32C by size, as an SVG of bars. Written by hand: it takes fewer lines than to drive a
 * chart library, of which the light ones need a browser's DOM and the others bring a hundred packages.
 */

const CASES = ['1 KiB', '4 KiB', '16 KiB', '64 KiB', '1 MiB']
const NAMES: [name: string, label: string, color: string][] = [
  [INSIDE, INSIDE, '#0b6e4f'],
  [ON_A_BUFFER, ON_A_BUFFER, '#6bbf9c'],
  [NATIVE, NATIVE, '#c1666b'],
  [HASH_WASM, HASH_WASM, '#4281a4'],
  [PLATFORMATIC, PLATFORMATIC, '#9cc4d9'],
  [PLAIN, 'plain JavaScript', '#b8b08d'],
]

const LEFT = 40
const TOP = 74
const HEIGHT = 230
const BAR = 19
const GROUP = NAMES.length * BAR + 22
const WIDTH = LEFT + CASES.length * GROUP + 10

/** @param figures of the section `crc`; @param note what machine it was */
export function chart(figures: readonly Figure[], note: string): string | null {
  const speed = (caseName: string, name: string) => {
    const figure = figures.find((one) => one.case === caseName && one.name === name)
    return figure?.bytes === undefined ? null : figure.bytes / figure.median
  }
  const speeds = CASES.map((caseName) => NAMES.map(([name]) => speed(caseName, name)))
  if (speeds.flat().includes(null)) return null
  const step = 2
  const top = Math.ceil(Math.max(...(speeds.flat() as number[])) / step) * step
  const y = (value: number) => TOP + HEIGHT - (value / top) * HEIGHT
  const parts: string[] = []
  for (let value = 0; value <= top; value += step) {
    const at = y(value).toFixed(1)
    parts.push(`<path d="M${LEFT} ${at}H${WIDTH - 10}" stroke="#ddd"/>`)
    parts.push(text(LEFT - 6, y(value) + 4, String(value), 'end'))
  }
  for (const [group, row] of speeds.entries()) {
    const left = LEFT + 12 + group * GROUP
    for (const [index, value] of (row as number[]).entries()) {
      const x = left + index * BAR
      const height = (TOP + HEIGHT - y(value)).toFixed(1)
      const color = NAMES[index]![2]
      parts.push(
        `<rect x="${x}" y="${y(value).toFixed(1)}" width="${BAR - 2}" height="${height}" fill="${color}"/>`,
      )
      parts.push(text(x + BAR / 2 - 1, y(value) - 3, value.toFixed(1), 'middle', 9))
    }
    parts.push(text(left + (NAMES.length * BAR) / 2, TOP + HEIGHT + 18, CASES[group]!, 'middle'))
  }
  for (const [index, [, label, color]] of NAMES.entries()) {
    const x = LEFT + (index % 3) * 210
    const at = 34 + Math.floor(index / 3) * 18
    parts.push(`<rect x="${x}" y="${at - 9}" width="10" height="10" fill="${color}"/>`)
    parts.push(text(x + 15, at, label))
  }
  parts.push(text(LEFT, 14, 'CRC-32C of bytes in cache, by size: GB/s, more is better', 'start', 13))
  parts.push(text(LEFT, TOP + HEIGHT + 38, note, 'start', 10))
  const height = TOP + HEIGHT + 48
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" ` +
    `font-family="sans-serif" role="img" aria-label="CRC-32C by size">\n` +
    `<rect width="100%" height="100%" fill="#fff"/>\n${parts.join('\n')}\n</svg>\n`
  )
}

function text(x: number, y: number, content: string, anchor = 'start', size = 11): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${x}" y="${y.toFixed(1)}" text-anchor="${anchor}" font-size="${size}" fill="#333">${escaped}</text>`
}

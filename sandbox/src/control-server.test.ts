import { expect, test } from 'vitest'
import { parseUnits } from './amount.ts'
import { startControlServer } from './control-server.ts'
import { createServerRegistry } from './server-registry.ts'

test('trailing zeros of an amount are no precision', () => {
  for (const decimals of [1, 9, 20, 78]) expect(parseUnits(`0.${'5'.padEnd(decimals, '0')}`, 8)).toBe(50_000_000n)
  expect(parseUnits('3.0000', 0)).toBe(3n)
  expect(() => parseUnits('0.1234567890', 8)).toThrow('amount has 9 decimals; the currency has 8')
})

test('trailing zeros of a price are no precision, and are not kept', async () => {
  const server = await startControlServer([], createServerRegistry(null, 1_000), 0)
  try {
    const fix = (usd: string) =>
      server
        .inject({ method: 'POST', url: '/prices', payload: { currency: 'btc', usd } })
        .then(({ statusCode }) => statusCode)
    const fixed = async () => (await server.inject('/prices')).json()
    for (const [usd, kept] of [
      [(96_400.5).toFixed(20), '96400.5'],
      [(96_400).toFixed(40), '96400'],
      ['96400', '96400'],
    ] as const) {
      expect(await fix(usd)).toBe(201)
      expect(await fixed()).toEqual({ usd: { btc: kept } })
    }
    for (const usd of [(0).toFixed(20), '1.1234567890123', '1.']) expect([usd, await fix(usd)]).toEqual([usd, 400])
  } finally {
    await server.close()
  }
})

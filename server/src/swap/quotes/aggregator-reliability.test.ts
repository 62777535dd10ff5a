import { describe, expect, it } from 'vitest'
import { createOutsidePromises } from './aggregator-reliability.ts'

describe('what an outside router did not keep', () => {
  const start = () => {
    let at = 1_000
    const told: (readonly [string, string, boolean, number])[] = []
    const promises = createOutsidePromises({
      now: () => at,
      halfLifeMs: 100,
      onBuilt: (network, source, kept, ppm) => void told.push([network, source, kept, ppm()]),
    })
    return { promises, told, pass: (ms: number) => (at += ms) }
  }

  it('counts on its network alone, halves with time, and is bounded', () => {
    const { promises, pass } = start()
    promises.record('eth', '0x', 8_000n)
    expect([promises.penaltyPpm('eth', '0x'), promises.penaltyPpm('base', '0x')]).toEqual([8_000n, 0n])
    expect(promises.penaltyPpm('eth', 'kyberswap')).toBe(0n)
    pass(100)
    expect(promises.penaltyPpm('eth', '0x')).toBe(4_000n)
    promises.record('eth', '0x', 1_000n)
    expect(promises.penaltyPpm('eth', '0x')).toBe(5_000n)
    for (let n = 0; n < 10; n++) promises.record('eth', '0x', 1_000_000n)
    expect(promises.penaltyPpm('eth', '0x')).toBe(50_000n)
    pass(2_000)
    expect(promises.penaltyPpm('eth', '0x')).toBe(0n)
  })

  it('halves with every promise that is kept, and is told', () => {
    const { promises, told } = start()
    promises.record('eth', '0x', 8_000n)
    promises.record('eth', '0x', 0n)
    expect(promises.penaltyPpm('eth', '0x')).toBe(4_000n)
    expect(told).toEqual([
      ['eth', '0x', false, 8_000],
      ['eth', '0x', true, 4_000],
    ])
  })

  it('a clock that goes back adds nothing', () => {
    const { promises, pass } = start()
    promises.record('eth', '0x', 8_000n)
    pass(-500)
    expect(promises.penaltyPpm('eth', '0x')).toBe(8_000n)
  })
})

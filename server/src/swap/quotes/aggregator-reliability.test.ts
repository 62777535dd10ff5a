import { describe, expect, it } from 'vitest'
import { createAggregatorReliability } from './aggregator-reliability.ts'

describe('the penalty of an aggregator', () => {
  const start = () => {
    let nowMs = 1_000
    const builds: (readonly [string, string, boolean, number])[] = []
    const reliability = createAggregatorReliability({
      now: () => nowMs,
      halfLifeMs: 100,
      onBuilt: (network, source, paidInFull, ppm) => void builds.push([network, source, paidInFull, ppm()]),
    })
    return { reliability, builds, advance: (ms: number) => (nowMs += ms) }
  }

  it('applies to its network only, halves with time, and is bounded', () => {
    const { reliability, advance } = start()
    reliability.record('eth', '0x', 8_000n)
    expect([reliability.penaltyPpm('eth', '0x'), reliability.penaltyPpm('base', '0x')]).toEqual([8_000n, 0n])
    expect(reliability.penaltyPpm('eth', 'kyberswap')).toBe(0n)
    advance(100)
    expect(reliability.penaltyPpm('eth', '0x')).toBe(4_000n)
    reliability.record('eth', '0x', 1_000n)
    expect(reliability.penaltyPpm('eth', '0x')).toBe(5_000n)
    for (let n = 0; n < 10; n++) reliability.record('eth', '0x', 1_000_000n)
    expect(reliability.penaltyPpm('eth', '0x')).toBe(50_000n)
    advance(2_000)
    expect(reliability.penaltyPpm('eth', '0x')).toBe(0n)
  })

  it('halves with each build that pays in full; each build is reported', () => {
    const { reliability, builds } = start()
    reliability.record('eth', '0x', 8_000n)
    reliability.record('eth', '0x', 0n)
    expect(reliability.penaltyPpm('eth', '0x')).toBe(4_000n)
    expect(builds).toEqual([
      ['eth', '0x', false, 8_000],
      ['eth', '0x', true, 4_000],
    ])
  })

  it('does not grow when the clock is set back', () => {
    const { reliability, advance } = start()
    reliability.record('eth', '0x', 8_000n)
    advance(-500)
    expect(reliability.penaltyPpm('eth', '0x')).toBe(8_000n)
  })
})

import { describe, expect, it } from 'vitest'
import type { RoutedSwap } from '../ports/router.ts'
import { createRouteReliability } from './route-reliability.ts'

const pool = (id: string, ...tokens: readonly string[]) => ({ pool: { id, tokens } })
const route = (unlisted: readonly string[]) =>
  ({ unlisted, swaps: [pool('main', 'weth', 'usdc'), pool('side', 'usdc', 'evil')] }) as unknown as RoutedSwap

describe('D4: pools that paid other than quoted', () => {
  const start = () => {
    let nowMs = 0
    const reliability = createRouteReliability({ now: () => nowMs })
    return { reliability, advance: (ms: number) => (nowMs += ms) }
  }

  it('are avoided for all accounts if they hold an unlisted token; the other pools of the route are not', () => {
    const { reliability } = start()
    expect(reliability.record('eth', route(['evil']), 'a')).toEqual(['side'])
    expect(reliability.avoided('eth', null)).toEqual(['side'])
    expect(reliability.avoided('base', null)).toEqual([])
  })

  it('are avoided for the account alone if several pools of listed tokens may be the cause, however many accounts see it', () => {
    const { reliability } = start()
    expect(reliability.record('eth', route([]), 'a')).toEqual(['main', 'side'])
    reliability.record('eth', route([]), 'a')
    expect(reliability.avoided('eth', 'a')).toEqual(['main', 'side'])
    expect([reliability.avoided('eth', 'b'), reliability.avoided('eth', null)]).toEqual([[], []])
    // Accounts are free: with a token that calls its holder, they could take the deepest pools from everybody.
    for (const account of ['b', 'c', 'd']) reliability.record('eth', route([]), account)
    expect(reliability.avoided('eth', 'b')).toEqual(['main', 'side'])
    expect(reliability.avoided('eth', null)).toEqual([])
  })

  it('are avoided for all once two accounts saw it on a route of that pool alone, and stay so', () => {
    const { reliability } = start()
    const alone = { unlisted: [], swaps: [pool('main', 'weth', 'usdc')] } as unknown as RoutedSwap
    reliability.record('eth', route([]), 'a')
    reliability.record('eth', alone, 'a')
    reliability.record('eth', alone, 'a')
    expect(reliability.avoided('eth', null)).toEqual([])
    reliability.record('eth', alone, 'b')
    expect(reliability.avoided('eth', null)).toEqual(['main'])
    reliability.record('eth', route([]), 'c')
    expect(reliability.avoided('eth', null)).toEqual(['main'])
  })

  it('are tried again after half an hour', () => {
    const { reliability, advance } = start()
    reliability.record('eth', route([]), 'a')
    advance(30 * 60_000)
    expect(reliability.avoided('eth', 'a')).toEqual([])
    // The first account is forgotten, too.
    reliability.record('eth', route([]), 'b')
    expect(reliability.avoided('eth', null)).toEqual([])
  })

  it('are bounded in number', () => {
    const { reliability } = start()
    const many = Array.from({ length: 3_000 }, (_, n) => pool(`p${n}`, 'weth', 'evil'))
    reliability.record('eth', { swaps: many, unlisted: ['evil'] } as unknown as RoutedSwap, 'a')
    expect(reliability.avoided('eth', null)).toHaveLength(2_000)
    expect(reliability.avoided('eth', null).at(-1)).toBe('p2999')
  })
})

import { checkSync } from 'recheck'
import { describe, expect, it } from 'vitest'
import { PATIENCE_MS } from '../../../../test/support/patience.ts'
import { networks } from '../../../networks/index.ts'
import { resolveNetwork } from '../../../src/core/domain/network.ts'

const patterns = new Set(
  networks.flatMap((network) => [
    resolveNetwork(network, 'production').regexAddress,
    resolveNetwork(network, 'sandbox').regexAddress,
  ]),
)

/** Partners run these patterns on user input, so the running time must be linear in its length. */
describe('every published regexAddress', () => {
  it.each([...patterns])('has linear running time: %s', (source) => {
    expect(source).toMatch(/^\^.*\$$/)
    // One group encloses all alternatives, so that the anchors apply to each of them.
    if (source.includes('|')) expect(source).toMatch(/^\^\(\?:.*\)\$$/)
    expect(checkSync(source, '', { timeout: PATIENCE_MS }).status).toBe('safe')
  })
})

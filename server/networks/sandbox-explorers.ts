/**
 * Templates of the sandbox's own pages, without a host: whoever shows them puts the server's public URL in front. A
 * public explorer knows nothing of a regtest chain, so it is never named there.
 */
export function sandboxExplorers(network: string): { addressExplorer: string; txExplorer: string } {
  return {
    addressExplorer: `/sandbox/explorer/${network}/address/{}`,
    txExplorer: `/sandbox/explorer/${network}/tx/{}`,
  }
}

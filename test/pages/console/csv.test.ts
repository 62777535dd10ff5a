import { expect, test } from 'vitest'
import { toCsv } from '../../../web/console/src/format/csv.ts'

test('writes amounts digit by digit, and names of partners as texts that a spreadsheet does not compute', () => {
  const rows = [
    { group: '=HYPERLINK("https://attacker.example")', currency: 'eth@eth', spread: '-0.000000000000000001' },
    { group: '-2+3', currency: 'usdt@eth', spread: '5000500.15002000450070014' },
    { group: 'Acme, Inc.', currency: 'btc@btc', spread: '0' },
    { group: null, currency: 'btc@btc', spread: 12 },
  ]
  expect(toCsv(['group', 'currency', 'spread'], rows).split('\r\n')).toEqual([
    'group,currency,spread',
    `"'=HYPERLINK(""https://attacker.example"")",eth@eth,-0.000000000000000001`,
    `'-2+3,usdt@eth,5000500.15002000450070014`,
    '"Acme, Inc.",btc@btc,0',
    ',btc@btc,12',
    '',
  ])
})

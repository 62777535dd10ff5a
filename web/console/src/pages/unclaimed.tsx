import { ActionButton } from '../actions/action-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Amount, ExchangeLink, Hash } from '../format/values.tsx'
import { DataList } from '../lists/data-list.tsx'

export const Page = () => (
  <>
    <PageHeader
      title="Unclaimed deposits"
      description="Deposits of closed exchanges, with an unknown memo, and at hot wallets. The oldest first."
    />
    <DataList
      read="unclaimed"
      label="Unclaimed deposits"
      isPaged
      rowKey={({ depositId }) => depositId}
      empty="No deposit is unclaimed."
      columns={[
        { title: 'Deposit', cell: ({ depositId }) => depositId },
        { title: 'Amount', isNumber: true, cell: (row) => <Amount value={row.amount} currency={row.currency} /> },
        { title: 'Transaction', cell: ({ txHash, txUrl }) => <Hash text={txHash} url={txUrl} /> },
        { title: 'Exchange', cell: ({ exchangeId }) => <ExchangeLink id={exchangeId} /> },
        {
          title: 'Actions',
          cell: ({ depositId, exchangeId }) => (
            <>
              <ActionButton action="unclaimed-pay-out" label="Pay to its owner" given={{ depositId }} />{' '}
              {exchangeId === null && (
                <ActionButton action="fundings-claim" label="Claim as capital" given={{ depositId }} />
              )}
            </>
          ),
        },
      ]}
    />
  </>
)

import { ActionButton } from '../actions/action-button.tsx'
import { PageHeader } from '../app/page-header.tsx'
import { Hash, Json } from '../format/values.tsx'
import { WholeList } from '../lists/whole-list.tsx'

export const Page = () => (
  <>
    <PageHeader
      title="After a restore"
      description="Payouts that were sent before a restore and that the database does not know, by the journals of the signers. After a restore payouts wait until you end the hold."
    >
      <ActionButton action="signer-import" label="Import the payouts" />
      <ActionButton action="signer-release" label="End the hold" />
    </PageHeader>
    <WholeList
      read="missingPayouts"
      label="Missing payouts"
      rowKey={({ network, txHash, payoutId }) => `${network} ${txHash} ${payoutId}`}
      textOf={({ network, txHash, payoutId }) => `${network} ${txHash} ${payoutId}`}
      empty="The database knows every payout."
      columns={[
        { title: 'Network', cell: ({ network }) => network },
        { title: 'Transaction', cell: ({ txHash }) => <Hash text={txHash} /> },
        { title: 'Payout', cell: ({ payoutId }) => <Hash text={payoutId} /> },
        { title: 'Details', cell: ({ detail, txHash }) => <Json value={detail} label={`Details of ${txHash}`} /> },
      ]}
    />
  </>
)

// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// The ERC-20 interface of Celo's native coin. It holds no balances and transfers native coins through Celo's
/// precompile (0xfd; celo-org/celo-blockchain, core/vm/contracts.go, `transfer`). It must have the real chain's
/// address, because the precompile accepts calls only from there.
contract CeloToken {
    string public constant name = "Celo native asset";
    string public constant symbol = "CELO";
    uint8 public constant decimals = 18;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    error TransferFailed();
    error AllowanceTooSmall();

    function balanceOf(address owner) external view returns (uint256) {
        return owner.balance;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed < value) revert AllowanceTooSmall();
        if (allowed < type(uint256).max) allowance[from][msg.sender] = allowed - value;
        _move(from, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function _move(address from, address to, uint256 value) private {
        if (to == address(0) || from.balance < value) revert TransferFailed();
        (bool moved,) = address(0xfd).call(abi.encode(from, to, value));
        if (!moved) revert TransferFailed();
        emit Transfer(from, to, value);
    }
}

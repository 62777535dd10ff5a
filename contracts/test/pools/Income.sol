// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20, Transfers} from "../../src/Transfers.sol";

/// @dev A recipient's own order at another venue: sells `sold` of one token for `bought` of another. Anyone may fill it, once.
contract LimitOrder {
    address private immutable maker;
    address private immutable taker;
    IERC20 private immutable soldToken;
    uint256 private immutable sold;
    IERC20 private immutable boughtToken;
    uint256 private immutable bought;
    bool private isFilled;

    constructor(address maker_, address taker_, IERC20 soldToken_, uint256 sold_, IERC20 boughtToken_, uint256 bought_) {
        (maker, taker, soldToken, sold, boughtToken, bought) = (maker_, taker_, soldToken_, sold_, boughtToken_, bought_);
    }

    function fill() external {
        require(!isFilled, "filled");
        isFilled = true;
        boughtToken.transferFrom(taker, maker, bought);
        soldToken.transferFrom(maker, taker, sold);
    }
}

/// @dev Holds what it owes to an account: a stream or a staking contract. Anyone may push the payment, once.
contract Debt {
    address private immutable creditor;
    address private immutable token;
    uint256 private immutable amount;
    bool private isPaid;

    constructor(address creditor_, address token_, uint256 amount_) {
        (creditor, token, amount) = (creditor_, token_, amount_);
    }

    receive() external payable {}

    /// @dev As a stream pays its recipient.
    function withdraw() external {
        pay();
    }

    /// @dev As a staking contract pays its staker.
    function getReward(address account) external {
        require(account == creditor, "nothing earned");
        pay();
    }

    function pay() private {
        require(!isPaid, "paid");
        isPaid = true;
        Transfers.pay(token, creditor, amount);
    }
}

/// @dev A wrapped native coin that moves nothing. Instead of paying, it pushes to the recipient what it is owed elsewhere.
contract DiversionWrapped {
    address private immutable income;
    bytes private call;

    constructor(address income_, bytes memory call_) {
        (income, call) = (income_, call_);
    }

    function deposit() external payable {
        divert();
    }

    function withdraw(uint256) external {
        divert();
    }

    function divert() private {
        (bool success,) = income.call(call);
        require(success, "income");
    }

    function mint(address, uint256) external {}

    function balanceOf(address) external pure returns (uint256) {
        return 100e18;
    }

    function approve(address, uint256) external pure returns (bool) {
        return true;
    }

    function transfer(address, uint256) external pure returns (bool) {
        return true;
    }

    function transferFrom(address, address, uint256) external pure returns (bool) {
        return true;
    }
}

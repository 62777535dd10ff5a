// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

// Contracts that send coin in every way there is.

contract Forwarder {
    error Refused();

    receive() external payable {}

    /// One inner transfer, as exchanges and wallets of contracts pay out.
    function forward(address payable to) external payable {
        (bool ok, ) = to.call{value: msg.value}("");
        require(ok);
    }

    /// Two inner transfers in different depths.
    function forwardTwice(address payable to) external payable {
        (bool ok, ) = to.call{value: msg.value / 2}("");
        require(ok);
        this.forward{value: msg.value / 2}(to);
    }

    /// The inner transfer succeeds, what holds it is undone, the transaction succeeds (D11).
    function forwardInVain(address payable to) external payable {
        try this.forwardAndRevert{value: msg.value}(to) {} catch {}
    }

    function forwardAndRevert(address payable to) external payable {
        (bool ok, ) = to.call{value: msg.value}("");
        require(ok);
        revert Refused();
    }

    /// Calls without a value, to blur the paths of those with one: a precompile, a static call, a delegate call.
    function forwardAmidNoise(address payable to) external payable {
        (bool a, ) = address(4).staticcall("noise");
        (bool b, ) = address(this).staticcall("");
        (bool c, ) = address(this).delegatecall("");
        (bool d, ) = address(this).call{gas: 5000, value: 0}(abi.encodeCall(this.forwardAndRevert, (to)));
        require(a && (b || c || !d || d));
        (bool ok, ) = to.call{value: msg.value}("");
        require(ok);
    }
}

/// Pays on from its constructor (D13).
contract PayingConstructor {
    constructor(address payable to) payable {
        if (to != address(0)) {
            (bool ok, ) = to.call{value: msg.value}("");
            require(ok);
        }
    }
}

/// Forces coin upon an address without a call (D12): within its own creation this still works after EIP-6780.
contract Exploder {
    constructor(address payable to) payable {
        selfdestruct(to);
    }
}

/// Takes no coin.
contract Refuser {
    function nothing() external pure {}
}

/// Burns gas when it is paid.
contract GasEater {
    uint256[] private eaten;

    receive() external payable {
        for (uint256 n = 0; n < 60; n++) eaten.push(n + 1);
    }
}

/// Stands in for the price oracle of the OP stack.
contract L1Oracle {
    function getL1Fee(bytes memory data) external pure returns (uint256) {
        return data.length * 1 gwei;
    }
}

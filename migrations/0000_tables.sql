CREATE SCHEMA "archive";
--> statement-breakpoint
CREATE SCHEMA "sync";
--> statement-breakpoint
CREATE TABLE "sync"."alerts" (
	"project_id" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"subject" text collate "C" NOT NULL,
	"text" text NOT NULL,
	"opened_at" timestamp with time zone NOT NULL,
	"told_at" timestamp with time zone,
	"resolved_at" timestamp with time zone,
	"telling_until" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "alerts_pkey" PRIMARY KEY("project_id","kind","subject")
);
--> statement-breakpoint
CREATE TABLE "sync"."asks" (
	"project_id" text collate "C" NOT NULL,
	"ask_id" uuid NOT NULL,
	"asked_at" timestamp with time zone DEFAULT now() NOT NULL,
	"options" jsonb NOT NULL,
	"progress" jsonb,
	"ending" jsonb,
	CONSTRAINT "asks_pkey" PRIMARY KEY("project_id","ask_id")
);
--> statement-breakpoint
CREATE TABLE "sync"."books" (
	"project_id" text collate "C" NOT NULL,
	"resource" text collate "C" NOT NULL,
	"owner" text collate "C" NOT NULL,
	"no" bigint NOT NULL,
	"day_from" date NOT NULL,
	"day_to" date NOT NULL,
	"asked_at" timestamp with time zone NOT NULL,
	"total" bigint,
	"by_status" bigint[],
	"shown" bigint,
	"shown_by_status" bigint[],
	"is_more" boolean NOT NULL,
	"is_equal" boolean NOT NULL,
	"asks" text NOT NULL,
	"in_words" boolean NOT NULL,
	CONSTRAINT "books_pkey" PRIMARY KEY("project_id","resource","owner","no"),
	CONSTRAINT "books_asks" CHECK (asks in ('list', 'each status'))
);
--> statement-breakpoint
CREATE TABLE "archive"."certificate_files" (
	"project_id" text collate "C" NOT NULL,
	"operation_id" text collate "C" NOT NULL,
	"url" text NOT NULL,
	"bytes" "bytea" NOT NULL,
	"sha256" "bytea" NOT NULL,
	"media_type" text,
	"fetched_at" timestamp with time zone NOT NULL,
	CONSTRAINT "certificate_files_pkey" PRIMARY KEY("project_id","operation_id")
);
--> statement-breakpoint
CREATE TABLE "sync"."certificates" (
	"project_id" text collate "C" NOT NULL,
	"resource" text collate "C" NOT NULL,
	"month" date NOT NULL,
	"certified_at" timestamp with time zone NOT NULL,
	"certificate" jsonb NOT NULL,
	"digest" "bytea" NOT NULL,
	"leaves_sha256" "bytea" NOT NULL,
	"issue" integer DEFAULT 1 NOT NULL,
	CONSTRAINT "certificates_pkey" PRIMARY KEY("project_id","resource","month","issue")
);
--> statement-breakpoint
CREATE TABLE "sync"."chains" (
	"project_id" text collate "C" NOT NULL,
	"no" bigint DEFAULT 0 NOT NULL,
	"head" "bytea" NOT NULL,
	"orders" bigint DEFAULT 0 NOT NULL,
	"nft_classes" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "chains_pkey" PRIMARY KEY("project_id")
);
--> statement-breakpoint
CREATE TABLE "sync"."facts" (
	"project_id" text collate "C" NOT NULL,
	"fact" text collate "C" NOT NULL,
	"value" text NOT NULL,
	"confirmed_at" timestamp with time zone NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	"previous" text,
	CONSTRAINT "facts_pkey" PRIMARY KEY("project_id","fact")
);
--> statement-breakpoint
CREATE TABLE "sync"."holders" (
	"project_id" text collate "C" NOT NULL,
	"holder" text,
	"process" text,
	"epoch" bigint DEFAULT 0 NOT NULL,
	"held_since" timestamp with time zone,
	"held_until" timestamp with time zone,
	CONSTRAINT "holders_pkey" PRIMARY KEY("project_id")
);
--> statement-breakpoint
CREATE TABLE "sync"."journal" (
	"project_id" text collate "C" NOT NULL,
	"no" bigint NOT NULL,
	"resource" text collate "C" NOT NULL,
	"owner" text collate "C" NOT NULL,
	"day" date NOT NULL,
	"entered_at" timestamp with time zone NOT NULL,
	"kind" text NOT NULL,
	"body" text NOT NULL,
	"ids" text[],
	"shas" "bytea",
	"head" "bytea" NOT NULL,
	CONSTRAINT "journal_pkey" PRIMARY KEY("project_id","no")
);
--> statement-breakpoint
CREATE TABLE "archive"."nft_class_versions" (
	"project_id" text collate "C" NOT NULL,
	"id" text collate "C" NOT NULL,
	"name" text,
	"symbol" text,
	"nft_count" bigint,
	"uri" text,
	"owner" text collate "C",
	"tx_hash" text,
	"created_at" timestamp with time zone,
	"observed_at" timestamp with time zone NOT NULL,
	"unread" text[] DEFAULT '{}' NOT NULL,
	"raw_sha256" "bytea" NOT NULL,
	"raw_bytes" "bytea",
	"raw" jsonb NOT NULL,
	CONSTRAINT "nft_class_versions_pkey" PRIMARY KEY("project_id","id","observed_at","raw_sha256")
);
--> statement-breakpoint
CREATE TABLE "archive"."nft_classes" (
	"project_id" text collate "C" NOT NULL,
	"id" text collate "C" NOT NULL,
	"name" text,
	"symbol" text,
	"nft_count" bigint,
	"uri" text,
	"owner" text collate "C",
	"tx_hash" text,
	"created_at" timestamp with time zone,
	"slice_day" date NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"first_seen_at" timestamp with time zone NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	"missing_since" timestamp with time zone,
	"unread" text[] DEFAULT '{}' NOT NULL,
	"raw_sha256" "bytea" NOT NULL,
	"raw_bytes" "bytea",
	"raw" jsonb NOT NULL,
	CONSTRAINT "nft_classes_pkey" PRIMARY KEY("project_id","id")
);
--> statement-breakpoint
CREATE TABLE "archive"."order_versions" (
	"project_id" text collate "C" NOT NULL,
	"operation_id" text collate "C" NOT NULL,
	"status" integer,
	"message" text,
	"account" text collate "C",
	"amount" numeric,
	"number" numeric,
	"created_at" timestamp with time zone,
	"updated_at" timestamp with time zone,
	"order_type" integer,
	"observed_at" timestamp with time zone NOT NULL,
	"unread" text[] DEFAULT '{}' NOT NULL,
	"raw_sha256" "bytea" NOT NULL,
	"raw_bytes" "bytea",
	"raw" jsonb NOT NULL,
	CONSTRAINT "order_versions_pkey" PRIMARY KEY("project_id","operation_id","observed_at","raw_sha256")
);
--> statement-breakpoint
CREATE TABLE "archive"."orders" (
	"project_id" text collate "C" NOT NULL,
	"operation_id" text collate "C" NOT NULL,
	"status" integer,
	"message" text,
	"account" text collate "C",
	"amount" numeric,
	"number" numeric,
	"created_at" timestamp with time zone,
	"updated_at" timestamp with time zone,
	"order_type" integer,
	"slice_day" date NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"first_seen_at" timestamp with time zone NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	"missing_since" timestamp with time zone,
	"unread" text[] DEFAULT '{}' NOT NULL,
	"raw_sha256" "bytea" NOT NULL,
	"raw_bytes" "bytea",
	"raw" jsonb NOT NULL,
	CONSTRAINT "orders_pkey" PRIMARY KEY("project_id","operation_id")
);
--> statement-breakpoint
CREATE TABLE "sync"."pages" (
	"project_id" text collate "C" NOT NULL,
	"resource" text collate "C" NOT NULL,
	"owner" text collate "C" NOT NULL,
	"day" date NOT NULL,
	"walk" integer NOT NULL,
	"page" integer NOT NULL,
	"page_key" text,
	"page_offset" bigint,
	"ids" text[] NOT NULL,
	"rejects" "bytea"[] NOT NULL,
	"total" bigint,
	"asked_at" timestamp with time zone NOT NULL,
	CONSTRAINT "pages_pkey" PRIMARY KEY("project_id","resource","owner","day","walk","page")
);
--> statement-breakpoint
CREATE TABLE "sync"."projects" (
	"project_id" text collate "C" NOT NULL,
	"base_url" text NOT NULL,
	"key_salt" "bytea" NOT NULL,
	"key_fingerprint" "bytea" NOT NULL,
	"added_at" timestamp with time zone NOT NULL,
	"first_day" date NOT NULL,
	"parked_at" timestamp with time zone,
	"parked_reason" text,
	"ask_again_at" timestamp with time zone,
	"clock_ahead" interval DEFAULT '0' NOT NULL,
	"clock_noted_at" timestamp with time zone,
	CONSTRAINT "projects_pkey" PRIMARY KEY("project_id")
);
--> statement-breakpoint
CREATE TABLE "sync"."rate" (
	"project_id" text collate "C" NOT NULL,
	"per_second" numeric NOT NULL,
	"not_before" timestamp with time zone,
	CONSTRAINT "rate_pkey" PRIMARY KEY("project_id")
);
--> statement-breakpoint
CREATE TABLE "sync"."readings" (
	"project_id" text collate "C" NOT NULL,
	"resource" text collate "C" NOT NULL,
	"owner" text collate "C" NOT NULL,
	"day" date NOT NULL,
	"no" bigint NOT NULL,
	"from_end" text NOT NULL,
	"days_asked" smallint NOT NULL,
	"began_at" timestamp with time zone NOT NULL,
	"began_machine_at" timestamp with time zone NOT NULL,
	"began_earliest_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone NOT NULL,
	"ended_machine_at" timestamp with time zone NOT NULL,
	"ended_latest_at" timestamp with time zone NOT NULL,
	"shown" integer NOT NULL,
	"by_status" integer[],
	"lacks" integer NOT NULL,
	"claims" integer NOT NULL,
	"pending" integer NOT NULL,
	"digest" "bytea" NOT NULL,
	CONSTRAINT "readings_pkey" PRIMARY KEY("project_id","resource","owner","day","no"),
	CONSTRAINT "readings_from_end" CHECK (from_end in ('asc', 'desc'))
);
--> statement-breakpoint
CREATE TABLE "sync"."rebuilds" (
	"project_id" text collate "C" NOT NULL,
	"resource" text collate "C" NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"done_up_to" text collate "C",
	"rows_read" bigint DEFAULT 0 NOT NULL,
	"rows_changed" bigint DEFAULT 0 NOT NULL,
	"changes" jsonb DEFAULT '{}'::jsonb NOT NULL,
	CONSTRAINT "rebuilds_pkey" PRIMARY KEY("project_id","resource")
);
--> statement-breakpoint
CREATE TABLE "sync"."rejects" (
	"project_id" text collate "C" NOT NULL,
	"resource" text collate "C" NOT NULL,
	"sha256" "bytea" NOT NULL,
	"bytes" "bytea" NOT NULL,
	"reason" text NOT NULL,
	"owner" text collate "C" NOT NULL,
	"day" date NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	"whole_length" bigint,
	CONSTRAINT "rejects_pkey" PRIMARY KEY("project_id","resource","sha256")
);
--> statement-breakpoint
CREATE TABLE "sync"."reported_problems" (
	"project_id" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"subject" text collate "C" NOT NULL,
	"numbers" jsonb NOT NULL,
	"reported_at" timestamp with time zone NOT NULL,
	"until" timestamp with time zone,
	CONSTRAINT "reported_problems_pkey" PRIMARY KEY("project_id","kind","subject")
);
--> statement-breakpoint
CREATE TABLE "sync"."runs" (
	"project_id" text collate "C" NOT NULL,
	"run_id" text collate "C" NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"outcome" text,
	"requests" integer DEFAULT 0 NOT NULL,
	"slices_done" integer DEFAULT 0 NOT NULL,
	"records_shown" bigint DEFAULT 0 NOT NULL,
	"records_new" bigint DEFAULT 0 NOT NULL,
	"records_changed" bigint DEFAULT 0 NOT NULL,
	"records_rejected" bigint DEFAULT 0 NOT NULL,
	"last_error" text,
	CONSTRAINT "runs_pkey" PRIMARY KEY("project_id","run_id")
);
--> statement-breakpoint
CREATE TABLE "sync"."slices" (
	"project_id" text collate "C" NOT NULL,
	"resource" text collate "C" NOT NULL,
	"owner" text collate "C" DEFAULT '' NOT NULL,
	"day" date NOT NULL,
	"state" text DEFAULT 'open' NOT NULL,
	"proof" text DEFAULT 'none' NOT NULL,
	"why" text DEFAULT 'not read',
	"proved_at" timestamp with time zone,
	"due_at" timestamp with time zone,
	"deadline_at" timestamp with time zone NOT NULL,
	"checkpoint" jsonb,
	"walk" integer DEFAULT 0 NOT NULL,
	"whole_walk" integer DEFAULT 0 NOT NULL,
	"walked_at" timestamp with time zone,
	"observed_at" timestamp with time zone,
	"platform_total" bigint,
	"shown_total" bigint,
	"news_no" bigint DEFAULT 0 NOT NULL,
	"unresolved" integer DEFAULT 0 NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	CONSTRAINT "slices_pkey" PRIMARY KEY("project_id","resource","owner","day"),
	CONSTRAINT "slices_state" CHECK (state in ('open', 'walked', 'sealed', 'final', 'lost')),
	CONSTRAINT "slices_proof" CHECK (proof in ('none', 'readings', 'books')),
	CONSTRAINT "slices_resource" CHECK (resource in ('orders', 'nft_classes'))
);
--> statement-breakpoint
CREATE TABLE "sync"."taken_requests" (
	"signature" "bytea" NOT NULL,
	"taken_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "taken_requests_pkey" PRIMARY KEY("signature")
);
--> statement-breakpoint
CREATE TABLE "sync"."token_snapshots" (
	"project_id" text collate "C" NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"taken_at" timestamp with time zone,
	"height" bigint,
	"shown" integer,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	CONSTRAINT "token_snapshots_pkey" PRIMARY KEY("project_id")
);
--> statement-breakpoint
CREATE TABLE "archive"."token_versions" (
	"project_id" text collate "C" NOT NULL,
	"symbol" text collate "C" NOT NULL,
	"name" text,
	"min_unit" text,
	"scale" integer,
	"initial_supply" numeric,
	"max_supply" numeric,
	"mintable" boolean,
	"owner" text collate "C",
	"issue_fee_denom" text,
	"issue_fee_amount" numeric,
	"mint_fee_denom" text,
	"mint_fee_amount" numeric,
	"observed_at" timestamp with time zone NOT NULL,
	"unread" text[] DEFAULT '{}' NOT NULL,
	"raw_sha256" "bytea" NOT NULL,
	"raw_bytes" "bytea",
	"raw" jsonb NOT NULL,
	CONSTRAINT "token_versions_pkey" PRIMARY KEY("project_id","symbol","observed_at","raw_sha256")
);
--> statement-breakpoint
CREATE TABLE "archive"."tokens" (
	"project_id" text collate "C" NOT NULL,
	"symbol" text collate "C" NOT NULL,
	"name" text,
	"min_unit" text,
	"scale" integer,
	"initial_supply" numeric,
	"max_supply" numeric,
	"mintable" boolean,
	"owner" text collate "C",
	"issue_fee_denom" text,
	"issue_fee_amount" numeric,
	"mint_fee_denom" text,
	"mint_fee_amount" numeric,
	"height" bigint,
	"observed_at" timestamp with time zone NOT NULL,
	"first_seen_at" timestamp with time zone NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	"missing_since" timestamp with time zone,
	"unread" text[] DEFAULT '{}' NOT NULL,
	"raw_sha256" "bytea" NOT NULL,
	"raw_bytes" "bytea",
	"raw" jsonb NOT NULL,
	CONSTRAINT "tokens_pkey" PRIMARY KEY("project_id","symbol")
);
--> statement-breakpoint
CREATE TABLE "archive"."transaction_versions" (
	"project_id" text collate "C" NOT NULL,
	"operation_id" text collate "C" NOT NULL,
	"api_version" text collate "C" NOT NULL,
	"module" text,
	"type" text,
	"operation" integer,
	"tx_hash" text,
	"status" integer,
	"message" text,
	"block_height" bigint,
	"confirmed_at" timestamp with time zone,
	"nft" jsonb,
	"mt" jsonb,
	"record" jsonb,
	"observed_at" timestamp with time zone NOT NULL,
	"unread" text[] DEFAULT '{}' NOT NULL,
	"raw_sha256" "bytea" NOT NULL,
	"raw_bytes" "bytea",
	"raw" jsonb NOT NULL,
	CONSTRAINT "transaction_versions_pkey" PRIMARY KEY("project_id","api_version","operation_id","observed_at","raw_sha256")
);
--> statement-breakpoint
CREATE TABLE "archive"."transactions" (
	"project_id" text collate "C" NOT NULL,
	"operation_id" text collate "C" NOT NULL,
	"api_version" text collate "C" NOT NULL,
	"module" text,
	"type" text,
	"operation" integer,
	"tx_hash" text,
	"status" integer,
	"message" text,
	"block_height" bigint,
	"confirmed_at" timestamp with time zone,
	"nft" jsonb,
	"mt" jsonb,
	"record" jsonb,
	"observed_at" timestamp with time zone NOT NULL,
	"first_seen_at" timestamp with time zone NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	"missing_since" timestamp with time zone,
	"unread" text[] DEFAULT '{}' NOT NULL,
	"raw_sha256" "bytea" NOT NULL,
	"raw_bytes" "bytea",
	"raw" jsonb NOT NULL,
	CONSTRAINT "transactions_pkey" PRIMARY KEY("project_id","api_version","operation_id"),
	CONSTRAINT "transactions_api_version" CHECK (api_version in ('v1beta1', 'v3'))
);
--> statement-breakpoint
CREATE TABLE "sync"."watched_operations" (
	"project_id" text collate "C" NOT NULL,
	"operation_id" text collate "C" NOT NULL,
	"api_version" text,
	"created_on" date,
	"added_at" timestamp with time zone DEFAULT now() NOT NULL,
	"state" text DEFAULT 'open' NOT NULL,
	"due_at" timestamp with time zone DEFAULT now(),
	"deadline_at" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"found_by" text[] DEFAULT '{}' NOT NULL,
	"file_sha256" "bytea",
	CONSTRAINT "watched_operations_pkey" PRIMARY KEY("project_id","operation_id"),
	CONSTRAINT "watched_operations_state" CHECK (state in ('open', 'done', 'lost')),
	CONSTRAINT "watched_operations_api_version" CHECK (api_version in ('v1beta1', 'v3'))
);
--> statement-breakpoint
CREATE INDEX "journal_slice" ON "sync"."journal" USING btree ("project_id","resource","owner","day","no");--> statement-breakpoint
CREATE INDEX "nft_class_versions_day" ON "archive"."nft_class_versions" USING btree ("project_id",((created_at at time zone 'UTC')::date));--> statement-breakpoint
CREATE INDEX "nft_classes_listed" ON "archive"."nft_classes" USING btree ("project_id","slice_day",coalesce(created_at, 'infinity'::timestamptz),"id");--> statement-breakpoint
CREATE INDEX "nft_classes_owner" ON "archive"."nft_classes" USING btree ("project_id","owner","slice_day");--> statement-breakpoint
CREATE INDEX "nft_classes_missing" ON "archive"."nft_classes" USING btree ("project_id","slice_day") WHERE missing_since is not null;--> statement-breakpoint
CREATE INDEX "nft_classes_ahead" ON "archive"."nft_classes" USING btree ("project_id","slice_day",coalesce(created_at, 'infinity'::timestamptz),"id") WHERE slice_day > (first_seen_at at time zone 'UTC')::date + 1;--> statement-breakpoint
CREATE INDEX "order_versions_day" ON "archive"."order_versions" USING btree ("project_id",((created_at at time zone 'UTC')::date));--> statement-breakpoint
CREATE INDEX "orders_listed" ON "archive"."orders" USING btree ("project_id","slice_day",coalesce(created_at, 'infinity'::timestamptz),"operation_id");--> statement-breakpoint
CREATE INDEX "orders_pending" ON "archive"."orders" USING btree ("project_id","slice_day") WHERE status = 1;--> statement-breakpoint
CREATE INDEX "orders_account" ON "archive"."orders" USING btree ("project_id","account","slice_day");--> statement-breakpoint
CREATE INDEX "orders_missing" ON "archive"."orders" USING btree ("project_id","slice_day") WHERE missing_since is not null;--> statement-breakpoint
CREATE INDEX "orders_ahead" ON "archive"."orders" USING btree ("project_id","slice_day",coalesce(created_at, 'infinity'::timestamptz),"operation_id") WHERE slice_day > (first_seen_at at time zone 'UTC')::date + 1;--> statement-breakpoint
CREATE INDEX "runs_started" ON "sync"."runs" USING btree ("project_id","started_at");--> statement-breakpoint
CREATE INDEX "slices_due" ON "sync"."slices" USING btree ("project_id","due_at");--> statement-breakpoint
CREATE INDEX "taken_requests_age" ON "sync"."taken_requests" USING btree ("taken_at");--> statement-breakpoint
CREATE INDEX "watched_operations_due" ON "sync"."watched_operations" USING btree ("project_id","due_at");--> statement-breakpoint
CREATE INDEX "watched_operations_open" ON "sync"."watched_operations" USING btree ("project_id","deadline_at") WHERE state = 'open';--> statement-breakpoint
CREATE INDEX "watched_operations_lost" ON "sync"."watched_operations" USING btree ("project_id") WHERE state = 'lost';--> statement-breakpoint
CREATE INDEX "watched_operations_new" ON "sync"."watched_operations" USING btree ("project_id") WHERE deadline_at is null;